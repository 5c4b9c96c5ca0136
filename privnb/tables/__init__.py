"""Reading, counting and writing of files and frames of any length."""
