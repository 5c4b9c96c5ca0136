"""A miner."""

from typing import Any


def shallow_forest() -> Any:
    """Return an estimator; it is asked for when somebody first needs a miner."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(10, max_depth=3)
