"""The workbench of an analyst: read and sanitize a table, measure and compare releases, and choose and write one.

Each object (table, release, measurements, comparison, decision, card) has a view in notebooks that begins with the
answer, and has `frame` and `plot()`. This subpackage computes nothing itself; its methods call the same functions as
the command line and the notebooks.
"""
