"""Kinds of retrieval models, one module each, found by their files; `kind.py` beside this folder says what one is."""
