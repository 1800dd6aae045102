"""`qeval init`: write a small working suite to start from."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from qeval.exit_codes import ExitCode


def main(argv: Sequence[str]) -> int:
    """Write the suite and say what to do next. Raises `InputError`."""
    from qeval.suites.starter import LANGUAGES, write_starter

    parser = argparse.ArgumentParser(
        prog="qeval init",
        description="Write a small suite with comments, which passes qeval check at once, as a "
        "start for your own: cases, schemas and data.",
        epilog="Example: qeval init mysuite --languages sql,cypher",
    )
    parser.add_argument("folder", type=Path, help="where to; must not exist or be empty")
    parser.add_argument("--languages", default=",".join(LANGUAGES), metavar="A,B",
                        help="query languages of the suite (default: %(default)s)")  # fmt: skip
    parser.add_argument("--data", default="csv", metavar="HOW",
                        help="csv: CSV files and a mapping; scripts: load statements of each "
                        "language; generator: a function in the suite (default: %(default)s)",
    )  # fmt: skip
    options = parser.parse_args(argv)
    languages = [name.strip() for name in options.languages.split(",") if name.strip()]
    written = write_starter(options.folder, languages, options.data)

    from qeval.report.console import output

    console = output()
    for file in written:
        console.print(str(file), soft_wrap=True)
    shown = _typed("suite.path", options.folder.as_posix())
    console.print(
        f"\nNext:\n  qeval check {shown}\n  qeval {shown} model=gold\n"
        f"  qeval prompt {_first_case(written)} {shown}",
        soft_wrap=True,
    )
    return ExitCode.DONE


def _typed(key: str, value: str) -> str:
    """An override as one types it in a shell: quoted for the configuration, then for the shell."""
    import re
    import shlex

    if re.fullmatch(r"[A-Za-z0-9_./-]+", value):
        return f"{key}={value}"
    quoted = re.sub(r'(\\*)"', r"\1\1" + r"\"", value)
    quoted += "\\" * (len(quoted) - len(quoted.rstrip("\\")))
    return shlex.quote(f'{key}="{quoted}"')


def _first_case(written: Sequence[Path]) -> str:
    import re

    cases = next(file for file in written if file.name == "cases.yaml")
    found = re.search(r"- id: (\S+)", cases.read_text(encoding="utf-8"))
    assert found is not None
    return found[1]
