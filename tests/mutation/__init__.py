"""Mutation testing: one small change of the code at a time, and the tests must notice. `make mutate` runs it.

`mutants.py` proposes changes (cosmic-ray's), `trial.py` tests one in a scratch copy of the tree, `progress.py` counts.
"""
