"""What the columns of a table are: descriptions, their drafts, and the datasets that obey them."""
