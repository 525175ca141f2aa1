"""DELG-style global and local descriptors, and where they come from."""
