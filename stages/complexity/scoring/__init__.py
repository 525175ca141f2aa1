"""Whose answers are scored, baselines among them, and how scores differ by frame (complexity.md §3)."""
