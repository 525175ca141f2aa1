"""Fillings, one module each, found by their files; `filling.py` beside this folder says what a filling is."""
