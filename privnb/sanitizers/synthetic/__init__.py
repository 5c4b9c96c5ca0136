"""Sanitizers that draw synthetic records from a model."""
