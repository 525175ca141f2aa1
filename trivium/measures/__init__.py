"""Measures, fusion and significance: pure functions on arrays, without files or parameters.

Used by: stages that evaluate, and people with ranked lists. Read `runs.py` first, then `ranking.py`.
"""
