"""Result tables and live progress for people."""
