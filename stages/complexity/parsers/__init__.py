"""Dependency trees by stanza or spaCy (complexity.md §4)."""
