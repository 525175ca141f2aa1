"""Captions of pictures and pictures of captions, by one search or in two stages (decorrelation.md §3)."""
