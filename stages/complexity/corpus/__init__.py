"""Texts with frames, questions, syntax and answers: records and the formats they come in (complexity.md §1)."""
