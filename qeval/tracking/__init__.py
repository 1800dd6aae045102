"""MLflow as a sink: runs are made from journals by a process of their own, and may fail alone."""

from qeval.tracking.sink import MlflowTracker, NoTracker, Tracker, TrackingResult

__all__ = ["MlflowTracker", "NoTracker", "Tracker", "TrackingResult"]
