"""DELG-style global and local descriptors of pictures, from several extractors (kvqae.md §4)."""
