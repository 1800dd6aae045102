"""Blanking secrets before anything is shown or written."""

import re
from typing import Any

_SECRET = re.compile(r"key|token|secret|password|credential", re.IGNORECASE)
_NOT_SECRET = re.compile(r"_env$|^max_|tokens$|_tokens")
_URI_PASSWORD = re.compile(r"(?<=://)([^/@:\s]*):[^/\s]+@")  # up to the last @ before a slash
BLANK = "***"


def redact(value: Any, name: str = "") -> Any:
    """The same structure with secrets blanked: values of secret-like keys, passwords in URIs.

    `${oc.env:…}` lookups stay as they are: they name a variable, never its value.
    """
    if isinstance(value, dict):
        return {key: redact(inner, str(key)) for key, inner in value.items()}
    if isinstance(value, list):
        return [redact(inner, name) for inner in value]
    if isinstance(value, str) and not value.startswith("${oc.env:"):
        if _SECRET.search(name) and not _NOT_SECRET.search(name) and value:
            return BLANK
        return redact_text(value)
    return value


def redact_text(text: str) -> str:
    """Free text with the passwords of the URIs in it blanked."""
    return _URI_PASSWORD.sub(rf"\1:{BLANK}@", text)


def redact_override(word: str) -> str:
    """A word of the command line with its value blanked if its key or a URI in it is secret."""
    key, equals, value = word.partition("=")
    return f"{key}{equals}{redact(value, key.rpartition('.')[2])}" if equals else redact_text(word)
