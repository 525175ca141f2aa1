"""Measures, fusion and significance: pure functions on arrays."""
