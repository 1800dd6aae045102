"""The tables of the documentation are those of the suite."""

import pytest

from qeval.paths import shipped
from qeval.suites.overview import filled, tables_of


@pytest.mark.parametrize("name", ["suite", "mutants", "rewrites"])
def test_the_tables_are_up_to_date(name: str) -> None:
    """Written by: python -m qeval.suites.overview docs/{suite,mutants,rewrites}.md."""
    text = (shipped("cases").parent / "docs" / f"{name}.md").read_text(encoding="utf-8")
    assert "<!-- end -->" in text
    assert filled(text, tables_of("ecommerce")) == text


def test_a_block_without_table_is_refused() -> None:
    with pytest.raises(KeyError):
        filled("<!-- nothing -->\n<!-- end -->\n", tables_of("ecommerce"))
