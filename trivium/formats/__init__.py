"""Every record type with its reader and writer: TREC, KILT, Wikidata, COCO, SQuAD, CoNLL-U, FrameNet, Label Studio.

Who comes in: whoever reads raw data or hands records on. Read `questions.py` or `pictures.py` first.
"""
