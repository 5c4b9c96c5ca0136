"""What the searches can be asked for: where Mondrian cuts, and which loss the lattice search minimizes."""

from collections.abc import Callable

from privnb.measures.utility import information_loss

CHOICES = ("range", "penalty", "gain")
MEDIANS = ("left", "below", "either", "nearest", "middle", "best")

# What a label costs a cell: no label costs more than one that covers it, nor than `*`.
OF_CELLS: dict[str, Callable[..., float]] = {
    "certainty penalty": lambda hierarchy, label, _: hierarchy.width(label),
    "normalized certainty penalty": lambda hierarchy, label, _: information_loss.uncertainty(hierarchy, label),
    "loss metric": information_loss.ambiguity,
    "non-uniform entropy": information_loss.bits,
    "height": lambda hierarchy, label, _: information_loss.height(hierarchy, label),
}
# What the classes cost, from their sizes or, for the last, from their counts of a target's values.
OF_CLASSES = {
    "discernibility": information_loss.discernibility_of,
    "average class size": information_loss.average_class_size_of,
    "classification metric": information_loss.classification_metric_of,
}
