"""The complexity factors of an example, from frames, syntax and words."""
