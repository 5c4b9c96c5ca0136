"""Sanitizers that replace values by similar values: microaggregation, swapping, rounding, coding, sampling."""
