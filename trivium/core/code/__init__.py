"""Code as a dependency: a digest of everything that a stage's command may execute or read from beside the code.

Read `digest.py` first: its docstring has the rules by which one module reaches another, or a file. `syntax.py` reads
one module and declares what cannot change a result; `pipeline.py` knows the stages and `code.yaml`.
"""
