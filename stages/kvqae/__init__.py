"""Answering questions about the named entity in an image: one module a stage."""
