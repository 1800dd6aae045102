"""The function that makes a suite's rows: in an installed module, or in the suite's own folder."""

import hashlib
import importlib
import importlib.util
import sys
import threading
from collections.abc import Callable, Mapping
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from qeval.data.model import Dataset
from qeval.errors import InputError

_importing = threading.Lock()


def call(
    target: str, folder: Path, name: str, options: Mapping[str, Any], reference_date: date
) -> Dataset:
    """The rows of instance `name`: what the function of `target` returns for `options`.

    `target` is `package.module:function`, or `file.py:function` with a file of the suite's
    `folder`. Raises `InputError` where it can't be imported, refuses the options, fails, or
    returns something else than a `Dataset` that ends on `reference_date`.
    """
    function = _function(target, folder)
    where = f"{folder / 'suite.yaml'}: instances.{name}: {target}"
    try:
        dataset = function(**options)
    except TypeError as error:
        raise InputError(f"{where} refuses these options: {error}") from error
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{where} failed: {_place(error)}") from error
    if not isinstance(dataset, Dataset):
        found = type(dataset).__name__
        raise InputError(f"{where} returned a {found}, expected a qeval.data.model.Dataset")
    if dataset.reference_date != reference_date:
        raise InputError(
            f"{folder / 'suite.yaml'}: reference_date is {reference_date.isoformat()}, but the"
            f" data of instance {name} ends on {dataset.reference_date.isoformat()}"
        )
    return dataset


def code_hash(target: str, folder: Path) -> str:
    """SHA-256 of the source that `target` runs, without importing it.

    That is the module, or all modules of its package; for a file of the suite all Python files
    beside it, which it may import.
    """
    module = target.partition(":")[0]
    if module.endswith(".py"):
        return _digest(sorted(_own_file(module, folder).parent.glob("*.py")))
    return _module_hash(module)


def _function(target: str, folder: Path) -> Callable[..., Dataset]:
    module, _, function_name = target.partition(":")
    try:
        own = module.endswith(".py")
        found = _own_module(module, folder) if own else importlib.import_module(module)
        function: Callable[..., Dataset] = getattr(found, function_name)
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"{folder / 'suite.yaml'}: data.generator: {target!r} can't be imported: "
            f"{_place(error)}"
        ) from error
    return function


def _own_file(module: str, folder: Path) -> Path:
    file = folder / module
    if not file.is_file():
        raise InputError(
            f"{folder / 'suite.yaml'}: data.generator: there is no file {file}; expected "
            "file.py:function with a file of the suite's folder, or module:function"
        )
    return file


def _own_module(module: str, folder: Path) -> Any:
    """The module of a file, imported anew when the file or one beside it has changed."""
    file = _own_file(module, folder).resolve()
    content = _digest(sorted(file.parent.glob("*.py")))
    name = f"_qeval_suite_{hashlib.sha256(f'{file}{content}'.encode()).hexdigest()[:16]}"
    with _importing:
        if name in sys.modules:
            return sys.modules[name]
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec is not None
        assert spec.loader is not None
        made = importlib.util.module_from_spec(spec)
        sys.modules[name] = made  # dataclasses look their module up while it is made
        sys.path.insert(0, str(file.parent))
        try:
            spec.loader.exec_module(made)
        except BaseException:
            del sys.modules[name]
            raise
        finally:
            sys.path.remove(str(file.parent))
    return made


@cache
def _module_hash(module_name: str) -> str:
    try:
        spec = importlib.util.find_spec(module_name)
    except ModuleNotFoundError:
        spec = None
    if spec is None or spec.origin is None:
        raise InputError(f"data.generator: there is no module {module_name!r}")
    origin = Path(spec.origin)
    return _digest(
        sorted(origin.parent.glob("*.py")) if spec.submodule_search_locations else [origin]
    )


def _digest(files: list[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def _place(error: Exception) -> str:
    """The error with the line of the suite's own code where it came up."""
    from traceback import extract_tb

    text = f"{type(error).__name__}: {error}"
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}: {error.msg}"
    here = str(Path(__file__))
    places = [p for p in extract_tb(error.__traceback__) if p.filename != here]
    own = [p for p in places if not p.filename.startswith("<frozen")]
    return f"{own[-1].filename}:{own[-1].lineno}: {text}" if own else text
