"""What reports call a model: a configuration that stands for many is called by the model's id."""

from collections.abc import Mapping

_STANDS_FOR_MANY = "qeval.models.remote.compatible"


def model_label(settings: Mapping[str, object]) -> str:
    """The name of a model's configuration; of a server of one's own, the name it knows."""
    if settings.get("_target_") == _STANDS_FOR_MANY and settings.get("id"):
        return str(settings["id"])
    return str(settings.get("name", ""))
