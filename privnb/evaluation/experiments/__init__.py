"""Experiments that the pages show for any table, with a store of results."""
