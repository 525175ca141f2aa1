"""All record types with their readers and writers: TREC, KILT, Wikidata, COCO, SQuAD, CoNLL-U, FrameNet, Label Studio.

Used by: all code that reads raw data or passes records on. Read `questions.py` or `pictures.py` first.
"""
