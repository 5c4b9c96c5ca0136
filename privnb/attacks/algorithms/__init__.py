"""What attacks on numbers compute, on arrays alone: rows are records, columns attributes."""
