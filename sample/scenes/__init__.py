"""Scenes of everyday objects with planted co-occurrence, in the public formats of COCO and Flickr30k."""

from sample.scenes.scene_world import DATASETS, ScenesParameters, write_sample

__all__ = ["DATASETS", "ScenesParameters", "write_sample"]
