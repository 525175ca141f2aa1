"""A question of one's own about a picture of one's own, answered by what the last run made."""
