"""Measures, fusion and significance: pure functions on arrays, without files or parameters.

Who comes in: stages that evaluate, and anybody with ranked lists. Read `runs.py` first, then `ranking.py`.
"""
