"""How MLflow's UI shows the runs: cells by accuracy, since by default it shows no metric at all.

A saved view is a tag of the experiment; the UI has it in its menu "Views", and at an address.
"""

import json
from collections.abc import Mapping
from typing import Any

from qeval.choices import NAMING
from qeval.tracking.overview import MEASURES

_KEY = "qeval"
VIEW_TAG = f"mlflow.sharedViewState.{_KEY}"


def saved_view() -> str:
    """The value of the tag, as MLflow 3.17 reads it."""
    names = {f"metrics.`{name}`": name for name, _ in MEASURES if "." not in name}
    names |= {f"tags.`{name}`": name for name in NAMING}
    columns = list(names)
    state = {
        "searchFilter": "tags.`qeval.kind` = 'cell'",
        "orderByKey": columns[0],
        "orderByAsc": False,
        "selectedColumns": columns,
        "columnOrder": columns,
        # As wide (in pixels) as their names: MLflow cuts long ones to the same beginning.
        "columnWidths": {column: 40 + 7 * len(name) for column, name in names.items()},
    }
    view = {"name": "Cells by accuracy", "createdAt": 0, "state": json.dumps(state)}
    return json.dumps(view)


def page_of(address: str, experiment: Mapping[str, Any]) -> str:
    """Where a server's UI shows an experiment (as its REST API tells it), in the view if it can."""
    page = f"{address}/#/experiments/{experiment['experiment_id']}/runs"
    tags = {tag["key"] for tag in experiment.get("tags", ())}
    return f"{page}?viewStateShareKey={_KEY}" if VIEW_TAG in tags else page
