"""What is committed about mutation strength belongs to the golds and mutators as they are."""

from collections import Counter

import pytest

from qeval.suites import available, load_suite
from qeval.suites.loader import suite_folder
from qeval.suites.mutants import golds_digest, mutants, mutated_languages, read_summary

PAIRS = [
    (name, language)
    for name in available()
    for language in load_suite(name).languages
    if language in mutated_languages()
]
FATES = ("killed", "survived", "invalid", "equivalent")


def test_every_language_has_a_mutator() -> None:
    assert {language for name, language in PAIRS if name == "ecommerce"} == set(
        load_suite("ecommerce").languages
    )


@pytest.mark.parametrize(("name", "language"), PAIRS)
def test_the_summary_belongs_to_golds_and_mutators(name: str, language: str) -> None:
    """A failure says: qeval check suite=<name> language=<language> --mutants --record."""
    suite, summary = load_suite(name), read_summary(suite_folder(name), language)
    assert summary is not None
    assert summary["golds"] == golds_digest(suite, language)
    assert set(summary["instances"]) == set(suite.instances)
    assert summary["share"] >= 0.98
    instance = suite.instance(language, "base")
    made = Counter(
        mutant.operator
        for case in suite.cases
        if language in case.gold
        for mutant in mutants(language, case.gold[language], instance.schema, instance.mapping)
    )
    counted = {
        operator: sum(fates[fate] for fate in FATES)
        for operator, fates in summary["operators"].items()
    }
    assert counted == dict(made)
