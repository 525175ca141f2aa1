"""Scenes of everyday objects with planted co-occurrence, in the public formats of COCO and Flickr30k."""
