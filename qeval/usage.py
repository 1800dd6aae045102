"""The text of `qeval --help`, made from the folders of `conf/` without importing Hydra."""

from qeval.commands import COMMANDS
from qeval.configuration import groups

_HEAD = """\
qeval: how well do language models write SQL, Cypher and TypeQL? Every query is executed.

  qeval                                          the local model on the built-in suite, SQL
  qeval model=gold lang=sql                      golds as predictions: the instrument's self-test
  qeval -m model=gold,gpt6_sol lang=sql,cypher   a grid: every model with every language
  qeval +experiment=smoke                        a named, versioned recipe

Commands:
"""

_FLAGS = """
Flags (most are Hydra's, which composes the configuration):
  -m, --multirun         sweep over comma-separated values
  -cd, --config-dir DIR  a folder with your own options, searched first
  --cfg job              print the composed configuration and stop
  --info                 how the configuration is put together
  -sc install=bash       shell completion: eval "$(qeval -sc install=bash)"
  --hydra-help           all of Hydra's flags
  --dry-run              cells, calls, tokens and money of this command; nothing is asked or run
  --version              the version of qeval

Exit status: 0 done, 1 a threshold was missed, 2 wrong configuration or input (nothing was run),
3 incomplete, 130 interrupted. The same command again does only what is missing.
"""


def usage(config_dir: str | None = None) -> str:
    """Describe commands, configuration groups with their options, and flags."""
    import textwrap

    commands = "".join(f"  {name:<12} {what}\n" for name, what in COMMANDS.items())
    lines = []
    for group, names in groups(config_dir).items():
        head = f"  {group + '=':<17}"
        lines += textwrap.wrap(
            head + ", ".join(names), 98, subsequent_indent=" " * len(head), break_on_hyphens=False
        )
    return f"{_HEAD}{commands}\nConfiguration groups (lang= is short for language=):\n" + (
        "\n".join(lines) + "\n" + _FLAGS
    )
