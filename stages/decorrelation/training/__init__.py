"""One training loop for all retrieval models, on D and D' (decorrelation.md §4)."""
