"""Protection of tables of counts and of association rules."""
