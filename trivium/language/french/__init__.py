"""Dependency trees of French texts, by stanza or spaCy."""
