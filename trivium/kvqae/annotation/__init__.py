"""Annotation of generated questions: the Label Studio project, its export, agreement."""
