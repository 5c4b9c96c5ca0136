"""What every room needs: argument checks, names, numbers in words, progress, processes."""
