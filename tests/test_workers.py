"""Where cases run: joblib's backends by name, and what is told of those that can't be used."""

import sys

import pytest

from qeval.errors import InputError
from qeval.workers import BACKENDS, pool_of, shares_memory


@pytest.mark.parametrize(
    ("backend", "told"),
    [
        ("lokky", "Did you mean 'loky'?"),
        # Their results come only when all are there.
        ("multiprocessing", "there are threading, loky, dask, sequential"),
        ("ray", "there are threading, loky, dask, sequential"),
    ],
)
def test_a_backend_that_can_not_be_used_is_refused(backend: str, told: str) -> None:
    with pytest.raises(InputError, match=rf"backend={backend}: .*{told}"):
        shares_memory(backend)


def test_dask_needs_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match="pip install distributed"):
        shares_memory("dask")


@pytest.mark.parametrize("backend", [name for name in BACKENDS if name not in ("loky", "dask")])
def test_a_pool_hands_over_all_results(backend: str) -> None:
    from joblib import delayed

    with pool_of(backend, 2) as pool:
        assert sorted(pool(delayed(abs)(-number) for number in range(6))) == list(range(6))
    assert shares_memory(backend)
