"""English captions, French dependency trees, and the words and stems by which texts of any language are compared.

Used by: decorrelation (English) and complexity. Read `english/chunker.py` and `languages.py` first.
"""
