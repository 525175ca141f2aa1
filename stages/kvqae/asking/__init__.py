"""A question of one's own about a picture: the whole pipeline in memory, and its answer as a page."""
