"""COCO and Flickr30k as pictures with objects and captions (decorrelation.md §1)."""
