"""Which environment variables hold a model's key, and keeping their values out of every text."""

import os
import re
from collections.abc import Sequence

Alternatives = tuple[tuple[str, ...], ...]

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
_LOOKS_SECRET = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|r8|hf|AIza|AKIA|ASIA)[-_]?[A-Za-z0-9_\-]{12,}|(?<=Bearer )\S+"
)
_SHORTEST = 8  # characters; blanking shorter values would blank ordinary words


def alternatives(key_env: str | Sequence[str | Sequence[str]] | None) -> Alternatives:
    """Normal form of `key_env`: any of the groups is enough, all variables of a group are needed.

    `X`: the variable X. `[X, [Y, Z]]`: X, or Y and Z together. None: no key.
    """
    if key_env is None:
        return ()
    if isinstance(key_env, str):
        return ((key_env,),)
    return tuple((group,) if isinstance(group, str) else tuple(group) for group in key_env)


def is_set(groups: Alternatives) -> bool:
    """Whether a key is there (or none is needed). Says nothing of its value."""
    return not groups or any(all(os.environ.get(name) for name in group) for group in groups)


def spoken(groups: Alternatives) -> str:
    """The alternatives as a person says them: `X, or Y with Z`."""
    return ", or ".join(" with ".join(group) for group in groups)


def single_key(groups: Alternatives) -> str | None:
    """The value of the first set alternative that is one variable, to hand to a client."""
    for group in groups:
        if len(group) == 1 and os.environ.get(group[0]):
            return os.environ[group[0]]
    return None


def scrub(text: str, groups: Alternatives = ()) -> str:
    """The text with every known or likely key blanked.

    Known are the values of the named variables and of all environment variables whose names sound
    secret; likely is what has the form of a provider's key.
    """
    named = {name for group in groups for name in group}
    for name, value in os.environ.items():
        if len(value) >= _SHORTEST and (name in named or _SECRET_NAME.search(name)):
            text = text.replace(value, "***")
    return _LOOKS_SECRET.sub("***", text)
