"""The error that sanitizers raise."""

from privnb.runtime.errors import PrivacyError


class SanitizationError(PrivacyError):
    """The error of a sanitizer that cannot make the requested release of a table."""
