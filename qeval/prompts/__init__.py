"""Prompt strategies: templates, schema rendering, example selection."""
