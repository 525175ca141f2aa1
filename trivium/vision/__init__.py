"""Pictures: decoding, faces, encoders of whole pictures, local descriptors, nearest neighbours of vectors.

Used by: KVQAE and decorrelation. Read `decoding.py` first, then `image_encoder.py`.
"""
