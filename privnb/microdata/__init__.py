"""A table that obeys a schema, how its values generalize, how it is counted, and what was published of it."""
