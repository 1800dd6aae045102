"""The review page's server: loopback only, for whoever has the link it prints.

What it shows was written by models and databases: the page sets text, never markup, and its
policy allows no script or style but its own files.
"""

import json
import secrets
import sys
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs, urlsplit

from qeval.errors import InputError, QevalError
from qeval.review.session import Session, checked_name

HOST = "127.0.0.1"
BODY_LIMIT = 64 * 1024  # bytes of a request
PATIENCE_S = 30.0  # seconds that a connection may say nothing

_FILES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/highlight.js": ("highlight.js", "text/javascript; charset=utf-8"),
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class ReviewServer(ThreadingHTTPServer):
    """Serves one session; `address` is the link with the secret that requests must carry."""

    daemon_threads = True

    def __init__(self, session: Session, reviewer: str, port: int = 0) -> None:
        self.session = session
        self.reviewer = reviewer
        self.secret = secrets.token_urlsafe(16)
        try:
            super().__init__((HOST, port), _Handler)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or "expected 0 to 65535"
            raise InputError(
                f"can't listen on port {port}: {reason}. Leave --port out for a free one"
            ) from None

    @property
    def address(self) -> str:
        """Where the page is; the part after `#` never reaches a log of requests."""
        return f"http://{HOST}:{self.server_port}/#{self.secret}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that goes away in the middle is no fault; anything else is shown."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: ReviewServer
    server_version = "qeval"
    sys_version = ""
    timeout = PATIENCE_S

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if path in _FILES and self._is_addressed_to_us():
            name, kind = _FILES[path]
            self._send(
                HTTPStatus.OK, files("qeval.review").joinpath("page", name).read_bytes(), kind
            )
        else:
            self._answer({"/api/queue": self._queue, "/api/item": self._item})

    def do_POST(self) -> None:
        self._answer({"/api/decide": self._decide})

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Say nothing: the terminal is the reviewer's."""

    def _queue(self, _body: dict[str, Any]) -> object:
        who = self._reviewer()
        return {"reviewer": who, "items": self.server.session.overview(who)}

    def _item(self, _body: dict[str, Any]) -> object:
        return self.server.session.view(self._asked("key"), self._reviewer())

    def _decide(self, body: dict[str, Any]) -> object:
        made = self.server.session.decide(
            str(body.get("key", "")),
            str(body.get("choice", "")),
            str(body.get("reviewer", "")),
            reason=str(body.get("reason", "")),
            saw_judge=body.get("saw_judge") is True,
        )
        return self.server.session.view(made.item, made.reviewer)

    def _reviewer(self) -> str:
        asked = self._asked("reviewer")
        return checked_name(asked) if asked.strip() else self.server.reviewer

    def _asked(self, name: str) -> str:
        return parse_qs(urlsplit(self.path).query).get(name, [""])[0]

    def _answer(self, calls: dict[str, Callable[[dict[str, Any]], object]]) -> None:
        call = calls.get(urlsplit(self.path).path)
        if call is None:
            return self._fail(HTTPStatus.NOT_FOUND, "there is no such page")
        given = self.headers.get("X-Review-Secret", "")
        known = secrets.compare_digest(given.encode(), self.server.secret.encode())
        if not known or not self._is_addressed_to_us():
            return self._fail(HTTPStatus.FORBIDDEN, "use the link that qeval review printed")
        try:
            value = call(self._body())
        except InputError as error:
            return self._fail(HTTPStatus.BAD_REQUEST, str(error))
        except QevalError as error:
            return self._fail(HTTPStatus.INTERNAL_SERVER_ERROR, str(error))
        text = json.dumps(value, ensure_ascii=False, default=str)
        return self._send(HTTPStatus.OK, text.encode("utf-8", "replace"), "application/json")

    def _body(self) -> dict[str, Any]:
        if self.command != "POST":
            return {}
        length = self.headers.get("Content-Length", "")
        digits = len(str(BODY_LIMIT))
        if not length.isdecimal() or len(length) > digits or int(length) > BODY_LIMIT:
            raise InputError(f"expected a body of at most {BODY_LIMIT} bytes")
        try:
            value = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            raise InputError("expected JSON") from None
        if not isinstance(value, dict):
            raise InputError("expected a JSON object")
        return value

    def _is_addressed_to_us(self) -> bool:
        """Another site's name that points here is not us: a browser would hand it our answers."""
        host = self.headers.get("Host", "")
        return host.rpartition(":")[0] in (HOST, "localhost")

    def _fail(self, status: HTTPStatus, message: str) -> None:
        self._send(status, json.dumps({"error": message}).encode(), "application/json")

    def _send(self, status: HTTPStatus, content: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)
