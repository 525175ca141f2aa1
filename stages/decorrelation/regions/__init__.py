"""Regions of classes, and which of them can be removed (decorrelation.md §1)."""
