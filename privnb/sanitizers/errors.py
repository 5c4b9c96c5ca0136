"""The error that sanitizers raise."""

from privnb.runtime.errors import PrivacyError


class SanitizationError(PrivacyError):
    """A sanitizer cannot make the requested release of this table."""
