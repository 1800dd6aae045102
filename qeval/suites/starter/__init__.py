"""The small working suite that `qeval init` writes: its files, and how they are chosen.

`all/` holds what every suite has, the other folders what goes with one way to bring data; files of
a language that the suite leaves out are not written. YAML files are Jinja templates.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, get_args

from qeval.errors import InputError, did_you_mean

DataKind = Literal["csv", "scripts", "generator"]
LANGUAGES = ("sql", "cypher", "typeql")

_HERE = Path(__file__).parent
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,29}")
_BY_LANGUAGE = {
    "sql": ("schema.sql", "load.sql"),
    "cypher": ("schema.cypher", "graph.yaml", "graph.txt", "load.cypher"),
    "typeql": ("schema.tql", "mapping.typeql.yaml", "load.tql"),
}
_MAPPINGS = ("graph.yaml", "mapping.typeql.yaml")  # scripts need none


def write_starter(folder: Path, languages: Sequence[str], data: str) -> list[Path]:
    """Write the suite to `folder`, which must not exist or be empty; returns its files.

    Raises `InputError` for a name that no suite can have, unknown languages or ways to bring data,
    and where something would be overwritten.
    """
    name = folder.resolve().name.lower()
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{folder}: a suite is named as its folder, and {name!r} is no name for one: expected "
            "a letter a-z, then at most 29 of a-z, 0-9, - and _"
        )
    _known("language", languages, LANGUAGES)
    _known("way to bring data", [data], get_args(DataKind))
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file, no folder; nothing was written")
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder} exists and is not empty; nothing was written")
    words = {
        "folder": folder.as_posix(), "name": name, "prefix": re.sub(r"[^a-z]", "", name)[:2],
        "languages": languages, "data": data,
    }  # fmt: skip
    texts = {
        Path(*source.relative_to(_HERE).parts[1:]): _rendered(source, words)
        for part in ("all", data)
        for source in sorted((_HERE / part).rglob("*.*"))
        if source.suffix != ".pyc" and _wanted(source.name, languages, data)
    }
    written = []
    for place, text in texts.items():
        file = folder / place
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="\n")
        except OSError as error:
            raise InputError(f"{file} can't be written: {error.strerror}") from error
        written.append(file)
    return written


def _wanted(file: str, languages: Sequence[str], data: str) -> bool:
    if data == "scripts" and file in _MAPPINGS:
        return False
    owner = next((lang for lang, files in _BY_LANGUAGE.items() if file in files), None)
    return owner is None or owner in languages


def _rendered(source: Path, words: Mapping[str, object]) -> str:
    text = source.read_text(encoding="utf-8")
    if source.suffix != ".yaml":
        return text
    from jinja2 import Environment, StrictUndefined

    environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True)  # noqa: S701
    return environment.from_string(text).render(words)


def _known(what: str, asked: Sequence[str], known: Sequence[str]) -> None:
    if not asked:
        raise InputError(f"no {what}; there are {', '.join(known)}")
    for place, name in enumerate(asked):
        if name in asked[:place]:
            raise InputError(f"{what} {name!r} is named twice")
        if name not in known:
            near = did_you_mean(name, known)
            raise InputError(f"no {what} {name!r}; there are {', '.join(known)}.{near}")
