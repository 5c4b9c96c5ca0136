"""Attacks that infer an attribute of people."""
