"""Calling a provider: what is worth a second try, how long to wait, how many at once."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

from qeval.models.base import ModelError

_AGAIN = frozenset({408, 409, 425, 429})
_OUT_OF_MONEY = ("insufficient_quota", "exceeded your current quota", "credit balance is too low")


@dataclass(frozen=True, slots=True)
class Retry:
    """Bounds of asking again: attempts, seconds in all, and of the first and the longest wait."""

    attempts: int
    total_s: float
    first_wait_s: float
    longest_wait_s: float


@dataclass(slots=True)
class Gate:
    """How many calls a model takes at once, and until when it asked to be left alone.

    Shared by all cells of a process that ask the same model.
    """

    slots: threading.BoundedSemaphore
    closed: threading.Event = field(default_factory=threading.Event)
    quiet_until: float = 0.0  # time.monotonic seconds

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a slot and for the end of a provider's pause."""
        with self.slots:
            pause = self.quiet_until - time.monotonic()
            if pause > 0:
                self.closed.wait(pause)
            yield

    def keep_quiet(self, seconds: float) -> None:
        """A provider said when to come back: that holds for all callers."""
        self.quiet_until = max(self.quiet_until, time.monotonic() + seconds)


_gates: dict[str, Gate] = {}
_registry = threading.Lock()


def gate(name: str, at_once: int) -> Gate:
    """The process's gate of a model; the first caller decides how many calls at once."""
    with _registry:
        return _gates.setdefault(name, Gate(threading.BoundedSemaphore(at_once)))


def is_worth_retrying(error: BaseException) -> bool:
    """Rate limits, time-outs, lost connections, server errors and malformed answers are.

    A wrong key, an unknown model, a bad request or an empty account are not.
    """
    if not isinstance(error, Exception) or isinstance(error, ModelError):
        return isinstance(error, ModelError) and error.retryable
    text = str(error).lower()
    if any(mark in text for mark in _OUT_OF_MONEY):
        return False
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return status in _AGAIN or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    # No status: litellm could not make sense of the answer (IndexError, KeyError …).
    return True


def retry_after(error: BaseException) -> float | None:
    """The seconds a provider asked to wait (`Retry-After` as seconds or date), or None."""
    headers = _headers(error)
    milliseconds = headers.get("retry-after-ms")
    value = headers.get("retry-after")
    try:
        if milliseconds is not None:
            return max(0.0, float(milliseconds) / 1000)
        return None if value is None else max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(str(value)).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def _headers(error: BaseException) -> Mapping[str, str]:
    response = getattr(error, "response", None)
    found = getattr(response, "headers", None)
    if not found:
        found = getattr(error, "litellm_response_headers", None)
    return {str(k).lower(): str(v) for k, v in dict(found).items()} if found else {}


def call_with_retries(call: Callable[[], Any], retry: Retry, entrance: Gate) -> Any:
    """Run `call` until it succeeds or asking again is pointless; raises its last error.

    Waits grow exponentially with jitter, unless the provider names a time. A wait that would end
    beyond `retry.total_s` is not begun. `Gate.closed` ends all waits.
    """
    import tenacity

    growing = tenacity.wait_random_exponential(retry.first_wait_s, retry.longest_wait_s)

    def wait(state: tenacity.RetryCallState) -> float:
        assert state.outcome is not None
        error = state.outcome.exception()
        named = None if error is None else retry_after(error)
        if named is None:
            return growing(state)
        if named <= retry.total_s:
            entrance.keep_quiet(named)
        return named

    def guarded() -> Any:
        with entrance.turn():
            return call()

    def pause(seconds: float) -> None:
        entrance.closed.wait(seconds)

    attempts = tenacity.Retrying(
        retry=tenacity.retry_if_exception(
            lambda error: is_worth_retrying(error) and not entrance.closed.is_set()
        ),
        wait=wait,
        stop=tenacity.stop_any(
            tenacity.stop_after_attempt(retry.attempts), tenacity.stop_before_delay(retry.total_s)
        ),
        sleep=pause,
        reraise=True,
    )
    return attempts(guarded)
