"""What the words of a result mean, for people: said once, shown by `qeval explain` and MLflow."""

METRICS = {
    "execution_accuracy": "the query's rows equal the gold's on the data that people ask about "
    "(base)",
    "execution_accuracy_relaxed": "the same, columns that nobody asked for forgiven",
    "robust_accuracy": "the rows equal the gold's on base and on every variant of the data",
    "semantic_equivalence": "right on all data it was run on, or another right answer in the eyes "
    "of a calibrated judge or of reviewers",
    "composite": "the weighted mean of scores that scoring.weights names",
    "…_uncalibrated": "what the score would be if the judge's word were believed: it is not "
    "shown that it seldom accepts what is false (qeval judge calibrate), so this is no headline",
    "valid": "the query could be executed",
    "syntax_pass": "the query could be parsed",
    "refuted_share": "of the queries that base accepted, those that a variant refuted",
    "repaired": "answers that were asked for again because the query failed (repair_rounds)",
    "copy_rate": "answers that hold a literal or a condition from an example which the question "
    "doesn't ask for",
    "exact_agreement": "over repeats: pairs of answers to a question with the same text",
    "verdict_agreement": "over repeats: pairs of answers to a question with the same verdict",
    "pass_at_k": "over repeats: questions of which at least one of k answers is right",
}
"""Each is a share of the answers counted (`answers counted`, `n`), with a 95 % interval."""

VERDICTS = {
    "correct": "right on every instance that it was run on",
    "equivalent": "other rows than the gold's, but a judge or reviewers found it right",
    "refuted": "right on base by luck: a variant of the data gives other rows",
    "wrong_result": "ran, and gave other rows on base",
    "runtime_error": "failed while running",
    "timeout": "took too long",
    "schema_error": "names a table, label, type or column that there is not",
    "syntax_error": "could not be parsed",
    "unsafe": "would write, or do what a query must not; it was not run",
    "no_query": "no query in the answer",
    "infra_error": "the model or the database could not be reached; not counted, asked again",
    "gold_error": "the gold itself failed; not counted",
}

LAYERS = {
    "failure": "failing to run: no query, or it failed, so there are no rows to compare",
    "base": "its rows on base",
    "instances": "variants: its rows on them",
    "judge": "the judge's label",
    "unscored": "nobody: a judge was asked and gave no label, execution's verdict stands",
    "review": "reviewers",
}


def meaning(metric: str) -> str:
    """What a metric says, by its name in `summary.json` and MLflow; "" for an unknown one."""
    if metric.endswith("_uncalibrated"):
        return METRICS["…_uncalibrated"]
    return METRICS.get("pass_at_k" if metric.startswith("pass_at_") else metric, "")
