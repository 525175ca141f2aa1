"""Readers that are trained here, behind one interface (complexity.md §2)."""
