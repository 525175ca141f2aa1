"""What a person types: doctor, plan, scale, ask, and what `make` calls.

Who comes in: the command `trivium`, and the Makefile.
"""
