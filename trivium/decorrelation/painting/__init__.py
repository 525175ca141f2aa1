"""Painting objects out: fillings that need nothing, and the in-painting worker."""
