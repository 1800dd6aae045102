"""Sub-commands next to the Hydra application: one module each, `main(argv) -> exit code`."""

COMMANDS = {
    "init": "write a small working suite to start your own from",
    "judge": "calibrate a judge on labelled pairs, show what its word is worth",
    "check": "the gold gate: run every gold and compare it with what its case declares",
    "query": 'run a query on a suite\'s data: qeval query sql "SELECT …"',
    "prompt": "show exactly what would be sent for a case, with token counts",
    "up": "start an engine and keep it warm between commands",
    "down": "stop the warm engines",
    "status": "show the warm engines",
    "explain": "what the numbers mean; why a case got its verdict, down to the rows",
    "rescore": "judge recorded answers again, without asking a model",
    "review": "look at disputed predictions: a local page, the terminal, or CSV",
    "track": "log finished cells to MLflow, again or for the first time",
    "ui": "open the MLflow UI on the right store",
    "doctor": "what is here, what is missing, which keys are set",
    "models": "list the models, fetch the local one",
    "cache": "list or remove cached answers, models and engines",
    "mock-server": "a scripted OpenAI-compatible server for trying things out",
}
