"""A frame parser of linear models on words, endings and word classes: it needs no download, and learns in minutes.

Who comes in: `parser_training.py` and `parser_folder.py` for `kind: linear`, and the bench, on corpora whose annotation
is partial. Read `parser.py` first, then `elements.py`.
"""
