"""A reachable PostgreSQL server: how to connect to it as its owner and as the reader."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from qeval.engines.base import EngineLostError
from qeval.engines.postgres.lockdown import OWNER, READER
from qeval.errors import EngineUnavailableError

if TYPE_CHECKING:
    import psycopg

_CONNECT_TIMEOUT_S = 5
_SESSION_OPTIONS = "-c timezone=UTC -c datestyle=ISO -c intervalstyle=postgres -c bytea_output=hex"


@dataclass(frozen=True, slots=True)
class Server:
    """Connection parameters (libpq's words); never printed, they may hold a password.

    `layout`: an instance is a database of its own, or a schema in the owner's database. Without a
    `separate_reader` predictions run as the owner, and `reader` is the same as `owner`.
    """

    owner: Mapping[str, str]
    reader: Mapping[str, str]
    version: str
    origin: Literal["embedded", "server"]
    layout: Literal["database", "schema"] = "database"
    separate_reader: bool = True

    def __repr__(self) -> str:
        return f"Server({self.version}, {self.origin}, {self.layout})"

    @classmethod
    def embedded(cls, socket_folder: str, version: str) -> "Server":
        """The server whose socket is in `socket_folder`."""
        # Everything the environment (PGHOSTADDR, PGREQUIREAUTH, …) could otherwise set.
        base = {
            "host": socket_folder, "hostaddr": "", "port": "5432", "dbname": "postgres",
            "password": "", "sslmode": "disable", "gssencmode": "disable",
            "channel_binding": "disable", "require_auth": "", "target_session_attrs": "any",
        }  # fmt: skip
        return cls(base | {"user": OWNER}, base | {"user": READER}, version, "embedded")

    def schema(self, key: str) -> str:
        """The schema that holds the instance's tables."""
        return "public" if self.layout == "database" else key

    def database(self, key: str) -> str:
        """The database that holds the instance's tables."""
        return key if self.layout == "database" else self.owner["dbname"]

    def connect_owner(self, key: str | None = None) -> "psycopg.Connection[tuple[Any, ...]]":
        """A new autocommit connection of the owner, to the maintenance or an instance's database.

        Raises `EngineLostError`.
        """
        return self._connect(self.owner, key)

    def connect_reader(self, key: str) -> "psycopg.Connection[tuple[Any, ...]]":
        """A new autocommit connection of the reader to an instance's database.

        Raises `StaleSessionError`.
        """
        try:
            return self._connect(self.reader, key)
        except EngineLostError as error:
            raise StaleSessionError(str(error)) from None

    def _connect(
        self, parameters: Mapping[str, str], key: str | None
    ) -> "psycopg.Connection[tuple[Any, ...]]":
        import psycopg

        from qeval.engines.postgres.values import adapters

        changed = dict(parameters)
        options = [parameters.get("options", ""), _SESSION_OPTIONS]
        if key is not None:
            changed["dbname"] = self.database(key)
            options.append(f"-c search_path={self.schema(key)}")
        changed["options"] = " ".join(options).strip()
        try:
            return psycopg.connect(conninfo(changed), autocommit=True, context=adapters())
        except psycopg.OperationalError as error:
            text = redacted(str(error).strip(), parameters)
            raise EngineLostError(f"can't connect to PostgreSQL: {text}") from None


def conninfo(parameters: Mapping[str, str]) -> str:
    """The libpq connection string of `parameters`, with our bounds where they name none."""
    from psycopg.conninfo import make_conninfo

    ours = {"connect_timeout": str(_CONNECT_TIMEOUT_S), "application_name": "qeval"}
    return make_conninfo("", **{**ours, **parameters, "client_encoding": "utf8"})


def answers(server: Server) -> bool:
    """Whether the server accepts connections."""
    try:
        server.connect_owner().close()
    except EngineLostError:
        return False
    return True


def redacted(text: str, parameters: Mapping[str, str]) -> str:
    """`text` without the password, should a driver's message quote it."""
    secret = parameters.get("password")
    return text.replace(secret, "***") if secret else text


@contextmanager
def refusals(server: Server, doing: str) -> Iterator[None]:
    """Turn psycopg's errors of our own statements into ours: server lost, or not allowed."""
    import psycopg

    try:
        yield
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        text = redacted(str(error).strip(), server.owner)
        raise EngineLostError(f"PostgreSQL was lost while {doing}: {text}") from error
    except psycopg.Error as error:
        text = redacted(str(error).strip(), server.owner)
        raise EngineUnavailableError(
            f"PostgreSQL refused qeval while {doing} ({error.sqlstate}): {text}"
        ) from error


class StaleSessionError(EngineLostError):
    """No working session on an instance, and nothing of the query was sent yet."""
