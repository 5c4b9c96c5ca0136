"""Attacks on published aggregates: margins, and answers to counting queries."""
