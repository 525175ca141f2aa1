"""Frozen image encoders of KVQAE, one file each, with one class that has the file's name.

To add one, write a file here and an entry of `kvqae.image_encoders` in `params.yaml`; the class implements
`trivium/vision/image_encoder.py`.
"""
