"""Argument checks, names, texts of numbers, progress and processes, which all subpackages use."""
