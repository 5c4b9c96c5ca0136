"""Sanitizers that generalize, suppress or bucketize cells."""
