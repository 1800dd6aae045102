"""The Neo4j engine: what the pipeline sees."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, TypeVar

from qeval.engines.base import EngineInfo, EngineLostError, Execution, QueryError, QueryLimits
from qeval.engines.neo4j.turns import Turns
from qeval.engines.warm import WarmServer
from qeval.errors import EngineUnavailableError
from qeval.suite import Instance

if TYPE_CHECKING:
    from qeval.engines.neo4j.embedded import EmbeddedServer
    from qeval.engines.neo4j.remote import RemoteDatabase
    from qeval.engines.neo4j.stores import Stores

_T = TypeVar("_T")
_STUCK_S = 3.0


class Neo4jEngine:
    """Real Neo4j: embedded, or the server of `uri`. Settings: `conf/engine/neo4j.yaml`.

    The embedded server holds all instances side by side. A user's server holds one at a time:
    queries on the one that is in share it, the others wait for their turn.
    """

    def __init__(
        self,
        *,
        language: str,
        name: str,
        uri: str | None,
        user: str,
        password: str | None,
        database: str | None,
        connections: int,
        open_instances: int,
        keep_instances: int,
        check_timeout_s: float,
        server: dict[str, Any],
    ) -> None:
        from qeval.engines.neo4j.launch import ServerSettings

        self.language = language
        self.name = name
        self._uri = uri
        self._login = (user, password, database)
        self._connections = connections
        self._most_open = open_instances
        self._most_kept = keep_instances
        self._check_timeout_s = check_timeout_s
        self._settings = ServerSettings(**server)
        self._slot_folder: str | None = None
        self._init_state()

    def _init_state(self) -> None:
        self._lock = Lock()
        self._turns = Turns()
        self._loaded: dict[str, Instance] = {}
        self._embedded: EmbeddedServer | None = None
        self._stores: Stores | None = None
        self._remote: RemoteDatabase | None = None
        self._abandoned: list[tuple[Thread, float]] = []
        self._info: EngineInfo | None = None

    @property
    def side_by_side(self) -> bool:
        """Whether several instances are there at once: a user's server holds one."""
        return self._uri is None

    def __repr__(self) -> str:
        return f"Neo4jEngine({self._info})"  # never the URI: it may hold a password

    def start(self) -> EngineInfo:
        """Reach the server of `uri`, find a warm one, or start our own."""
        with self._lock:
            if self._info is None:
                self._info = self._reach()
            return self._info

    def load(self, instance: Instance) -> None:
        """Make the instance queryable; milliseconds where the server holds it open already."""
        with self._database(instance):
            self._loaded[instance.key] = instance

    def check(self, query: str, instance: Instance) -> None:
        """EXPLAIN: syntax, names and what kind of query it is; nothing is executed.

        Names that exist, but not on the labels they are read of, are `schema_error` as well.
        """
        from qeval.engines.neo4j import session
        from qeval.engines.neo4j.ownership import GraphModel, refuse_misplaced_properties

        self._patiently(
            instance,
            self._check_timeout_s,
            lambda driver, database: session.check(driver, database, query, self._check_timeout_s),
        )
        if instance.tabular:  # else the mapping need not name everything
            refuse_misplaced_properties(query, GraphModel.of(instance.mapping))

    def execute(self, query: str, instance: Instance, limits: QueryLimits) -> Execution:
        """Run one read query, unchanged, in a read transaction."""
        from qeval.engines.neo4j import session
        from qeval.engines.neo4j.mapping import keys_of
        from qeval.scoring.values import Canonical

        canonical = Canonical(keys_of(instance.mapping))
        return self._patiently(
            instance,
            limits.timeout_s,
            lambda driver, database: session.execute(driver, database, query, limits, canonical),
        )

    def drop(self, instance: Instance) -> None:
        """Free an instance, in memory and on disk; one that is not there is fine.

        On a server of the user's own it stays in until the next one takes its place.
        """
        self._loaded.pop(instance.key, None)
        if self._uri is not None:
            return
        with self._turns.sharing("", _nothing):
            if self._stores is not None:
                self._stores.drop(instance)

    def fingerprint(self, instance: Instance) -> str:
        """Digest of all nodes and relationships."""
        from qeval.engines.neo4j.load import fingerprint

        with self._database(instance) as (driver, database):
            return fingerprint(driver, database)

    def restart(self) -> None:
        """Bring the server back, with every instance that was loaded; kept data is verified."""
        self._restart(lambda embedded: embedded.lost())

    def _restart(self, end: "Callable[[EmbeddedServer], None]") -> None:
        with self._turns.alone(), self._lock:
            self._let_go()
            if self._embedded is not None:
                end(self._embedded)
            self._info = self._reach()
            self._turns.current = None
        for instance in list(self._loaded.values()):
            self.load(instance)

    def stop(self) -> None:
        """Close all connections and stop the server if it is ours."""
        with self._lock:
            self._let_go()
            if self._embedded is not None:
                self._embedded.stop()
            self._embedded = self._info = None
            self._loaded.clear()

    def up(self) -> WarmServer:
        """Start a server that stays, or return the one that does (`qeval up`)."""
        from qeval.engines.neo4j.embedded import EmbeddedServer

        if self._uri is not None:
            raise EngineUnavailableError(
                "engine.uri names a server of your own: there is nothing to keep warm"
            )
        return EmbeddedServer(self._settings).up()

    def holds(self, server: WarmServer) -> list[str]:
        """Keys of the instances that a warm server keeps, most recently used first."""
        from pathlib import Path

        from qeval.engines.neo4j.stores import kept

        return kept(Path(server.address))

    def __getstate__(self) -> dict[str, Any]:
        """A copy in another process uses the same server and stops nothing."""
        state = self.__dict__.copy()
        for name in (
            "_lock", "_turns", "_embedded", "_stores", "_remote", "_abandoned", "_loaded",
        ):  # fmt: skip
            del state[name]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._init_state()
        self.__dict__.update(state)
        if self._slot_folder is not None:
            self._stores = self._make_stores(self._slot_folder)
        elif self._info is not None:
            self._remote = self._make_remote()

    def _reach(self) -> EngineInfo:
        if self._uri is not None:
            self._remote = self._make_remote()
            version = self._remote.reach()
            self._remote.holds()
            return EngineInfo("neo4j", version, "server")
        from qeval.engines.neo4j.embedded import EmbeddedServer
        from qeval.engines.neo4j.fetch import VERSION

        if self._embedded is None:
            self._embedded = EmbeddedServer(self._settings)
        control = self._embedded.start()
        self._slot_folder = str(control.folder)
        self._stores = self._make_stores(control)
        return EngineInfo("neo4j", VERSION, "embedded")

    def _make_remote(self) -> "RemoteDatabase":
        from qeval.engines.neo4j.remote import RemoteDatabase

        user, password, database = self._login
        return RemoteDatabase(str(self._uri), user, password, database, self._connections)

    def _make_stores(self, control: Any) -> "Stores":
        from pathlib import Path

        from qeval.engines.neo4j.launch import Control
        from qeval.engines.neo4j.stores import Stores

        if isinstance(control, str):
            control = Control(Path(control), lambda: True)
        return Stores(control, self._connections, self._most_open, self._most_kept)

    def _let_go(self) -> None:
        if self._stores is not None:
            self._stores.close()
        if self._remote is not None:
            self._remote.close()
        self._stores = self._remote = None

    @contextmanager
    def _database(self, instance: Instance) -> Iterator[tuple[Any, str | None]]:
        """Driver and database name of an instance, which stays in as long as this is held."""
        if self._uri is not None:
            remote = self._remote
            if remote is None:
                raise EngineLostError("the Neo4j engine is not started")
            with self._turns.sharing(instance.key, lambda: remote.switch(instance)):
                yield remote.driver, remote.name
            return
        with self._turns.sharing("", _nothing):
            stores = self._stores
            if stores is None:
                raise EngineLostError("the Neo4j engine is not started")
            with stores.leased(instance) as driver:
                yield driver, None

    def _patiently(
        self, instance: Instance, limit_s: float, work: Callable[[Any, str | None], _T]
    ) -> _T:
        """Do `work` on the instance's database; a query that can't be stopped is a timeout."""
        from qeval.engines.neo4j.session import AbandonedError

        self._restart_if_stuck()
        try:
            with self._database(instance) as (driver, database):
                return work(driver, database)
        except AbandonedError as error:
            self._abandoned.append((error.thread, time.monotonic()))
            raise QueryError(
                "timeout", f"given up after {limit_s:g} s; Neo4j could not stop it", code="client"
            ) from None

    def _restart_if_stuck(self) -> None:
        """A query that Neo4j can't stop burns a core for ever: start anew, where we may.

        Where nothing is asked any more, the launcher ends the server some seconds later.
        """
        if not self._abandoned:
            return
        self._abandoned = [(t, since) for t, since in self._abandoned if t.is_alive()]
        now = time.monotonic()
        if not any(now - since > _STUCK_S for _, since in self._abandoned):
            return
        self._abandoned.clear()
        if self._uri is not None:
            logging.getLogger("qeval").warning(
                "a query that Neo4j can't stop keeps a core of its server busy until it restarts"
            )
        elif self._embedded is not None:
            self._restart(lambda embedded: embedded.renew())


def _nothing() -> None:
    return
