"""The workbench of an analyst: read a table, sanitize it, measure the release, compare, choose, write.

Each noun (table, release, measurements, comparison, decision, card) shows itself in a notebook with the answer first,
and has `frame` and `plot()`. This package computes nothing itself; its methods call the same functions as the command
line and the notebooks.
"""
