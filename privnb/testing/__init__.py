"""Contracts that every method must fulfill, for the tests of methods that you write.

A check raises AssertionError, with a message about the failure, if the method breaks the contract. The check does not
catch an error that the method itself raises.

>>> from privnb import Suppress
>>> check_sanitizer(Suppress())
"""

from privnb.testing.attacks import check_attack
from privnb.testing.measures import check_measure
from privnb.testing.models import check_model
from privnb.testing.sanitizers import check_sanitizer

__all__ = ["check_attack", "check_measure", "check_model", "check_sanitizer"]
