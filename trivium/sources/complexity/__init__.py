"""Public models of complexity, and the data that users bring."""
