"""Commands that a person types (doctor, plan, scale, ask) or `make` calls; each module's `run` is one sub-command.

Used by: the command `trivium`, and the Makefile. Read `cli.py` first: it lists them, and imports one when asked.
"""
