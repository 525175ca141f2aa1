"""The factors, one module each, named as the factor; `factors/registry.py` finds them by listing this folder."""
