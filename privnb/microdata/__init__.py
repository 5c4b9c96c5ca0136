"""A schema, how its values generalize, how records are counted, and what was published of them."""
