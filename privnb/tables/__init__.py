"""Files and frames of any length: how they are read, counted and written."""
