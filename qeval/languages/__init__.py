"""Query languages: safety, extraction hints."""
