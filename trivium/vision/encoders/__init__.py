"""Frozen image encoders of KVQAE, one file each, with one class that bears the file's name.

A new file here and a line of `kvqae.image_encoders` in `params.yaml` add one: `trivium/vision/image_encoder.py` says
what its class has.
"""
