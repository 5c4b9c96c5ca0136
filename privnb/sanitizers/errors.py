"""What a sanitizer raises."""


class SanitizationError(ValueError):
    """What was asked of a sanitizer cannot be done to this table."""
