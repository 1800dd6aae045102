"""A Jinja template whose blocks become the turns of a chat."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from qeval.errors import InputError

if TYPE_CHECKING:
    from jinja2 import Environment, Template
    from jinja2.runtime import Context


def block_template(path: Path, folders: Sequence[Path]) -> "BlockTemplate":
    """The template in `path`, parsed once a process for as long as no file beside it changes."""
    near = {path.parent, *folders}
    files = sorted(file for folder in near for file in folder.glob("*.jinja"))
    times = tuple((file, file.stat().st_mtime_ns) for file in files)
    return _block_template(path, tuple(folders), times)


@cache
def _block_template(
    path: Path,
    folders: tuple[Path, ...],
    _times: tuple[tuple[Path, int], ...],
) -> "BlockTemplate":
    return BlockTemplate(path, folders)


class BlockTemplate:
    """One template file and all that it extends, imports or includes."""

    def __init__(self, path: Path, folders: Sequence[Path]) -> None:
        self.path = path
        self.folders = (path.parent, *folders)

    def block(self, name: str, **values: object) -> str:
        """A block as text, stripped; empty where neither template nor parents have it.

        Raises `InputError` where the template asks for what is not there.
        """
        from jinja2 import TemplateError

        try:
            blocks = self._blocks.get(name)
            if not blocks:
                return ""
            context = self._template.new_context(values)
            context.blocks = self._blocks
            return "".join(blocks[0](context)).strip()
        except TemplateError as error:
            raise InputError(f"{self.path}: {error}") from None

    @cached_property
    def _blocks(self) -> "dict[str, list[Callable[[Context], Iterator[str]]]]":
        """The template's blocks with those it inherits, nearest first."""
        template = self._template
        blocks = {name: [block] for name, block in template.blocks.items()}
        while parent := _parent(self._environment, template):
            template = self._environment.get_template(parent)
            for name, block in template.blocks.items():
                blocks.setdefault(name, []).append(block)
        return blocks

    @cached_property
    def _environment(self) -> "Environment":
        from jinja2 import Environment, FileSystemLoader, StrictUndefined

        environment = Environment(
            loader=FileSystemLoader(self.folders),
            undefined=StrictUndefined,
            autoescape=False,  # noqa: S701 - prompts are plain text; nothing is HTML here
        )
        environment.filters["json"] = lambda value: json.dumps(value, ensure_ascii=False)
        return environment

    @cached_property
    def _template(self) -> "Template":
        return self._environment.get_template(self.path.name)

    @cached_property
    def hash(self) -> str:
        """SHA-256 (12 hex digits) over the template and all it extends, imports or includes."""
        from jinja2 import TemplateError
        from jinja2.meta import find_referenced_templates

        digest = hashlib.sha256()
        waiting, seen = [self.path.name], set()
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            assert self._environment.loader is not None
            try:
                source, _, _ = self._environment.loader.get_source(self._environment, name)
                parsed = self._environment.parse(source)
            except TemplateError as error:
                raise InputError(f"{self.path}: {error}") from None
            digest.update(f"{name}\0{source}\0".encode())
            referenced = find_referenced_templates(parsed)
            waiting += sorted(other for other in referenced if other)
        return digest.hexdigest()[:12]


def _parent(environment: "Environment", template: "Template") -> str | None:
    """The name in a template's `{% extends "…" %}`, if it has one."""
    from jinja2.nodes import Const, Extends

    assert environment.loader is not None
    assert template.name is not None
    source, _, _ = environment.loader.get_source(environment, template.name)
    for node in environment.parse(source).find_all(Extends):
        return node.template.value if isinstance(node.template, Const) else None
    return None
