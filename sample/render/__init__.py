"""Photographs of invented people and things: drawn, seeded, byte-identical on every machine.

Who comes in: the makers of worlds and of stand-in encoders. Read `photographs.py` first.
"""
