"""Options of the searches: the attributes and points at which Mondrian cuts, and the losses of the lattice search."""

from collections.abc import Callable

from privnb.measures.utility import information_loss

SPLIT_ATTRIBUTES = ("range", "penalty", "gain")
SPLIT_POINTS = ("left", "below", "either", "nearest", "middle", "best")

# # The losses of a cell under a label: a label loses no more than one that covers it, and no more than `*`.
CELL_LOSSES: dict[str, Callable[..., float]] = {
    "certainty penalty": lambda hierarchy, label, _: hierarchy.width(label),
    "normalized certainty penalty": lambda hierarchy, label, _: information_loss.uncertainty(hierarchy, label),
    "loss metric": information_loss.ambiguity,
    "non-uniform entropy": information_loss.bits,
    "height": lambda hierarchy, label, _: information_loss.height(hierarchy, label),
}
# # The losses of classes, from their sizes or, for the last loss, from their counts of the values of a target.
CLASS_LOSSES = {
    "discernibility": information_loss.discernibility_of,
    "average class size": information_loss.average_class_size_of,
    "classification metric": information_loss.classification_metric_of,
}
