"""Sub-commands next to the Hydra application: one module each, `main(argv) -> exit code`."""
