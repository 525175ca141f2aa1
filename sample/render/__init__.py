"""Photographs of invented people and things: drawn from seeds, byte-identical on every machine.

Used by: the modules that make worlds and stand-in encoders. Read `photographs.py` first.
"""
