"""Sanitizers that replace values by similar ones: microaggregation, swapping, rounding, coding, sampling."""
