"""English captions and French syntax: words, noun phrases, dependency trees; and what any language is compared by.

Who comes in: decorrelation (English) and complexity. Read `english/chunker.py` and `languages.py` first.
"""
