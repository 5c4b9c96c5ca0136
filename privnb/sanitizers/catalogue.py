"""Which sanitizers there are for a dataset: one of each kind, and those that generalize under the same models."""

from privnb.microdata import expect
from privnb.privacy_models import KAnonymity
from privnb.sanitizers import (
    Anatomy,
    Bucketize,
    FullDomain,
    GeometricNoise,
    KMember,
    LaplaceNoise,
    LocalRecoding,
    Mondrian,
    RandomizedResponse,
    TopDownSpecialization,
)

SUPPRESS = 0.05  # the share of records that full-domain generalization may suppress here


def family(dataset, *, k=10, l=2, epsilon=1.0):  # noqa: E741 - the field's letter
    """One sanitizer of each kind: those that keep `k`, buckets, Anatomy with `l`, and noise of `epsilon` an attribute.

    Kinds that need a sensitive attribute, a number or a category are left out where the dataset has none.
    """
    expect.these(dataset=dataset)
    sensitive = dataset.schema.sensitive[:1]
    numeric = [dataset.schema[name].numeric for name in dataset.schema.quasi_identifiers]
    chosen = [*generalizing(dataset, KAnonymity(k))]
    if sensitive:
        chosen += [Bucketize(Mondrian(KAnonymity(k))), Anatomy(l, sensitive[0])]
    if any(numeric):
        chosen += [LaplaceNoise(epsilon), GeometricNoise(epsilon)]
    return chosen if all(numeric) else [*chosen, RandomizedResponse(epsilon)]


def generalizing(dataset, *models):
    """Every sanitizer that generalizes until all `models` hold, of which the first is k-anonymity."""
    expect.these(dataset=dataset)
    k, *others = models
    sensitive = dataset.schema.sensitive[:1]
    chosen = [
        Mondrian(*models),
        LocalRecoding(*models),
        KMember(k.k, models=tuple(others)),
        FullDomain(*models, suppress=SUPPRESS),
    ]
    if sensitive and not dataset.schema[sensitive[0]].numeric:
        chosen.append(TopDownSpecialization(*models, workload=sensitive[0]))
    return chosen
