"""English captions and French syntax: words, parts of speech, noun phrases, dependency trees.

Who comes in: decorrelation (English) and complexity (French). Read `english/chunker.py` first.
"""
