"""The frame parser: windows, labels, training, scores (complexity.md §2)."""
