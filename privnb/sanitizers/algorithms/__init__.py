"""The searches behind the sanitizers, on integers alone: one algorithm a module."""
