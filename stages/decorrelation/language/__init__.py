"""Captions as words: sentences, parts of speech, noun phrases, the classes they name (decorrelation.md §2)."""
