"""Argument checks, names, numbers in words, progress and processes, which all subpackages use."""
