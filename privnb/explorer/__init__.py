"""The explorer: what one setting publishes, keeps and gives away, live beside sliders."""
