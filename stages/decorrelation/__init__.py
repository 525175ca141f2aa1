"""Decorrelation: does an image-text retrieval model look at the image, or repeat what usually occurs together?"""
