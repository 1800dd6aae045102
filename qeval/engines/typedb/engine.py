"""The TypeDB engine: what the pipeline sees."""

import re
from dataclasses import dataclass, field
from threading import Lock
from typing import Any
from urllib.parse import unquote

from qeval.engines.base import EngineInfo, EngineLostError, Execution, QueryLimits
from qeval.errors import EngineUnavailableError
from qeval.suite import Instance

OLDEST = (3, 12)
"""The oldest server whose language the suites' golds are written for."""


class TypedbEngine:
    """The TypeDB server of `uri`. Settings: `conf/engine/typedb.yaml`."""

    def __init__(
        self,
        *,
        language: str,
        name: str,
        uri: str | None,
        user: str,
        password: str,
        request_timeout_s: float,
        check_timeout_s: float,
        load_batch: int,
    ) -> None:
        self.language = language
        self.name = name
        self._uri = uri
        self._login = (user, password)
        self._request_timeout_s = request_timeout_s
        self._check_timeout_s = check_timeout_s
        self._batch = load_batch
        self._init_state()

    def _init_state(self) -> None:
        self._lock = Lock()
        self._loading: dict[str, Lock] = {}
        self._loaded: dict[str, Instance] = {}
        self._driver: Any = None
        self._info: EngineInfo | None = None

    def __repr__(self) -> str:
        return f"TypedbEngine({self._info})"  # never the login

    def start(self) -> EngineInfo:
        """Reach the server and look at its version."""
        with self._lock:
            if self._info is None:
                self._info = self._reach()
            return self._info

    def load(self, instance: Instance) -> None:
        """Make the instance queryable: a database of its own, loaded once."""
        from qeval.engines.typedb.load import ensure

        with self._loading.setdefault(instance.key, Lock()):
            if instance.key not in self._loaded:
                ensure(self._reached(), instance, self._batch)
                self._loaded[instance.key] = instance

    def check(self, query: str, instance: Instance) -> None:
        """Parse, resolve names and infer types on the server; nothing is executed."""
        from qeval.engines.typedb import session
        from qeval.engines.typedb.load import database_name

        name = database_name(instance)
        session.check(self._reached(), name, query, self._check_timeout_s)

    def execute(self, query: str, instance: Instance, limits: QueryLimits) -> Execution:
        """Run one read query, unchanged, in a read transaction of its own."""
        from qeval.engines.typedb import session
        from qeval.engines.typedb.load import database_name

        return session.execute(self._reached(), database_name(instance), query, limits)

    def drop(self, instance: Instance) -> None:
        """Delete the instance's database."""
        from qeval.engines.typedb.load import delete

        with self._loading.setdefault(instance.key, Lock()):
            self._loaded.pop(instance.key, None)
            delete(self._reached(), instance)
        self._loading.pop(instance.key, None)

    def fingerprint(self, instance: Instance) -> str:
        """Digest of all entities and relations."""
        from qeval.engines.typedb.load import database_name, fingerprint

        return fingerprint(self._reached(), database_name(instance), instance.mapping)

    def restart(self) -> None:
        """Connect anew; the server keeps its databases, which are counted again."""
        with self._lock:
            self._let_go()
            self._info = self._reach()
            instances = list(self._loaded.values())
            self._loaded.clear()
        for instance in instances:
            self.load(instance)

    def stop(self) -> None:
        """Close the connection; databases stay for the next run."""
        with self._lock:
            self._let_go()
            self._info = None
            self._loaded.clear()

    def __getstate__(self) -> dict[str, Any]:
        """A copy in another process has its own connection."""
        state = self.__dict__.copy()
        for name in ("_lock", "_loading", "_loaded", "_driver", "_info"):
            del state[name]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._init_state()
        self.__dict__.update(state)
        self.start()

    def _reached(self) -> Any:
        if self._driver is None:
            raise EngineLostError("the TypeDB engine is not started")
        return self._driver

    def _let_go(self) -> None:
        if self._driver is not None:
            self._driver.close()
        self._driver = None

    def _reach(self) -> EngineInfo:
        from typedb.driver import (
            Credentials,
            DriverOptions,
            DriverTlsConfig,
            TypeDB,
            TypeDBDriverException,
        )

        if self._uri is None:
            raise EngineUnavailableError(
                "engine=typedb needs a server: set QEVAL_TYPEDB_URI=host:port, or leave "
                "engine=auto for the engine inside qeval"
            )
        address = address_of(self._uri)
        login = address.login or self._login
        encrypted, plain = DriverTlsConfig.enabled_with_native_root_ca, DriverTlsConfig.disabled
        tls = encrypted if address.secure else plain
        options = DriverOptions(tls(), request_timeout_millis=round(self._request_timeout_s * 1000))
        try:
            self._driver = TypeDB.driver(address.host_port, Credentials(*login), options)
            version = str(self._driver.server_version().version)
        except TypeDBDriverException as error:
            self._let_go()
            raise EngineUnavailableError(
                f"no TypeDB server answers at {address.host_port} as user {login[0]!r}: {error}\n"
                "Start one (docker compose up -d typedb) and set QEVAL_TYPEDB_URI, "
                "QEVAL_TYPEDB_USER and QEVAL_TYPEDB_PASSWORD; unset QEVAL_TYPEDB_URI to use the "
                "engine inside qeval"
            ) from error
        if not new_enough(version):
            self._let_go()
            oldest = ".".join(map(str, OLDEST))
            raise EngineUnavailableError(
                f"the server at {address.host_port} is TypeDB {version}; expected {oldest} or later"
            )
        return EngineInfo("typedb", version, "server")


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is: host:port, whether by TLS, and the login if the URI holds one."""

    host_port: str
    secure: bool
    login: tuple[str, str] | None = field(default=None, repr=False)


def address_of(uri: str) -> Address:
    """Read `host:port`, `typedb://user:password@host:port` and the like; `https` means TLS."""
    scheme, separator, rest = uri.rpartition("://")
    login, _, host_port = rest.rstrip("/").rpartition("@")
    user, _, password = login.partition(":")
    return Address(
        host_port,
        bool(separator) and (scheme == "https" or scheme.endswith("+tls")),
        (unquote(user), unquote(password)) if login else None,
    )


def new_enough(version: str) -> bool:
    """Whether a server's version, such as 3.12.3 or 3.13.0-rc1, is at least `OLDEST`."""
    numbers = [int(number) for number in re.findall(r"\d+", version)[:2]]
    return tuple(numbers) >= OLDEST
