"""Corpora of increasing complexity."""
