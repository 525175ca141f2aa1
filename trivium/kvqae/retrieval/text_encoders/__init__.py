"""Text encoders that passages are found by, one file each, with one class that bears the file's name.

A new file here and a line of `kvqae.text_encoders` in `params.yaml` add one: `text_encoder_registry.py` says what its
class has.
"""
