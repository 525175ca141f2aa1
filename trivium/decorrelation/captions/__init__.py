"""Captions without what was removed, and the pairs D' that they make with painted pictures."""
