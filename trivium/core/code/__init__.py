"""Code as a dependency: a digest of everything that a stage's command may execute or read from beside the code.

Read `closure.py` first: its docstring has the rules by which one module reaches another, or a file. `syntax.py` reads
one module, `digest.py` puts the parts together, `pipeline.py` knows the stages, `guard.py` watches while one runs.
"""
