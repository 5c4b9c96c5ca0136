"""What a sanitizer raises."""

from privnb.runtime.errors import PrivacyError


class SanitizationError(PrivacyError):
    """What was asked of a sanitizer cannot be done to this table."""
