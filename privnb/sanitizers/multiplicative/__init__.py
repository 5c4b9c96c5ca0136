"""Sanitizers that rotate or project records."""
