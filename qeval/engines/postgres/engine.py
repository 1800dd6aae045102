"""The PostgreSQL engine: what the pipeline sees."""

from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from qeval.engines.base import EngineInfo, EngineLostError, Execution, QueryLimits
from qeval.engines.postgres.pool import Sessions
from qeval.engines.postgres.server import Server, StaleSessionError
from qeval.engines.warm import WarmServer
from qeval.errors import EngineUnavailableError
from qeval.suite import Instance

if TYPE_CHECKING:
    from collections.abc import Callable

    from qeval.engines.postgres.embedded import EmbeddedServer
    from qeval.engines.postgres.scratch import Scratch
    from qeval.engines.postgres.session import Session

_T = TypeVar("_T")


class PostgresEngine:
    """Real PostgreSQL: embedded, or the server of `uri`. Settings: `conf/engine/postgres.yaml`."""

    def __init__(
        self,
        *,
        language: str,
        name: str,
        uri: str | None,
        bin: str | None,  # noqa: A002 - the setting's name
        connections: int,
        idle_connections: int,
        keep_instances: int,
        check_timeout_s: float,
        server: dict[str, Any],
    ) -> None:
        from qeval.engines.postgres.launch import ServerSettings

        self.language = language
        self.name = name
        self._uri = uri
        self._bin = bin
        self._connections = connections
        self._idle = idle_connections
        self._keep = keep_instances
        self._check_timeout_s = check_timeout_s
        self._settings = ServerSettings(**server)
        self._init_state()

    def _init_state(self) -> None:
        self._lock = Lock()
        self._loading: dict[str, Lock] = {}
        self._loaded: dict[str, Instance] = {}
        self._server: Server | None = None
        self._sessions: Sessions | None = None
        self._scratch: Scratch | None = None
        self._embedded: EmbeddedServer | None = None

    def __repr__(self) -> str:
        return f"PostgresEngine({self._server!r})"  # never the URI: it may hold a password

    def start(self) -> EngineInfo:
        """Reach the server of `uri`, find a warm one, or start our own."""
        with self._lock:
            if self._server is None:
                self._reach()
            assert self._server is not None
            return EngineInfo("postgres", self._server.version, self._server.origin)

    def load(self, instance: Instance) -> None:
        """Make the instance queryable; a few milliseconds where the server holds it already."""
        if instance.key in self._loaded:
            return
        from qeval.engines.postgres.load import ensure

        with self._loading.setdefault(instance.key, Lock()):
            if instance.key not in self._loaded:
                if instance.ad_hoc:
                    self._place().load(instance)
                else:
                    ensure(self._running(), instance, self._keep, frozenset(self._loaded))
                self._loaded[instance.key] = instance

    def check(self, query: str, instance: Instance) -> None:
        """Parse, resolve names and plan; nothing is executed."""
        self._on_session(instance, lambda session: session.check(query, self._check_timeout_s))

    def execute(self, query: str, instance: Instance, limits: QueryLimits) -> Execution:
        """Run one read query as the restricted role, in a read-only transaction."""
        return self._on_session(instance, lambda session: session.execute(query, limits))

    def drop(self, instance: Instance) -> None:
        """Empty the place of an ad hoc instance for the next one, or drop a kept instance."""
        from qeval.engines.postgres.load import drop

        with self._loading.setdefault(instance.key, Lock()):
            self._loaded.pop(instance.key, None)
            if instance.ad_hoc:
                self._place().drop(instance.key)
            else:
                drop(self._running(), instance.key)
        self._loading.pop(instance.key, None)

    def fingerprint(self, instance: Instance) -> str:
        """Digest of all rows, computed by the server."""
        from qeval.engines.postgres.load import fingerprint

        return fingerprint(self._running(), self._name(instance))

    def restart(self) -> None:
        """Bring the server back, with every instance that was loaded; kept data is verified."""
        from qeval.engines.postgres.server import answers

        with self._lock:
            if self._sessions is not None:
                self._sessions.close()
            if self._server is not None and answers(self._server):
                self._sessions = Sessions(self._server, self._connections, self._idle)
            else:
                if self._embedded is not None:
                    self._embedded.lost()
                self._server = None
                self._reach()
            if self._scratch is not None:
                self._scratch.close()
            self._scratch = None
            instances = list(self._loaded.values())
            self._loaded.clear()
        for instance in instances:
            self.load(instance)

    def stop(self) -> None:
        """Close all sessions and stop the server if it is ours."""
        with self._lock:
            if self._sessions is not None:
                self._sessions.close()
            if self._scratch is not None:
                self._scratch.close()
            if self._embedded is not None:
                self._embedded.stop()
            self._server = self._sessions = self._embedded = self._scratch = None
            self._loaded.clear()

    def up(self) -> WarmServer:
        """Start a server that stays, or return the one that does (`qeval up`)."""
        from qeval.engines.postgres.embedded import EmbeddedServer

        if self._uri is not None:
            raise EngineUnavailableError(
                "engine.uri names a server of your own: there is nothing to keep warm"
            )
        return EmbeddedServer(self._bin, self._settings).up()

    def holds(self, server: WarmServer) -> list[str]:
        """Keys of the instances that a warm server holds, most recently used first."""
        from qeval.engines.postgres.load import kept

        return kept(Server.embedded(server.address, server.version))

    def __getstate__(self) -> dict[str, Any]:
        """A copy in another process uses the same server and stops nothing."""
        state = self.__dict__.copy()
        for name in ("_lock", "_loading", "_sessions", "_scratch", "_embedded", "_loaded"):
            del state[name]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._init_state()
        self.__dict__.update(state)
        if self._server is not None:
            self._sessions = Sessions(self._server, self._connections, self._idle)

    def _running(self) -> Server:
        if self._server is None:
            raise EngineLostError("the PostgreSQL engine is not started")
        return self._server

    def _place(self) -> "Scratch":
        from qeval.engines.postgres.scratch import Scratch

        server = self._running()
        with self._lock:
            if self._scratch is None:
                self._scratch = Scratch(server)
            return self._scratch

    def _name(self, instance: Instance) -> str:
        """What the server calls the database (or schema) of an instance."""
        place = self._scratch.place(instance.key) if self._scratch and instance.ad_hoc else None
        return place or instance.key

    def _reach(self) -> None:
        if self._uri is not None:
            from qeval.engines.postgres.remote import reach

            self._server = reach(self._uri)
        else:
            from qeval.engines.postgres.embedded import EmbeddedServer

            if self._embedded is None:
                self._embedded = EmbeddedServer(self._bin, self._settings)
            self._server = self._embedded.start()
        self._sessions = Sessions(self._server, self._connections, self._idle)

    def _on_session(self, instance: Instance, use: "Callable[[Session], _T]") -> _T:
        sessions = self._sessions
        if sessions is None:
            raise EngineLostError("the PostgreSQL engine is not started")
        self.load(instance)
        try:
            with sessions.lease(self._name(instance)) as session:
                return use(session)
        except StaleSessionError:
            # The server was restarted or dropped an idle connection, or another process made room
            # for its own instances.
            self._load_again_if_gone(instance)
            with sessions.lease(self._name(instance), fresh=True) as session:
                return use(session)

    def _load_again_if_gone(self, instance: Instance) -> None:
        from qeval.engines.postgres.load import kept

        with self._loading.setdefault(instance.key, Lock()):
            if not instance.ad_hoc and instance.key not in kept(self._running()):
                self._loaded.pop(instance.key, None)
        self.load(instance)
