"""Painting regions out, here or by the worker in its own environment (decorrelation.md §1)."""
