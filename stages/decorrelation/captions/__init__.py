"""Captions for painted pictures: phrases removed, prompts, a captioner (decorrelation.md §2)."""
