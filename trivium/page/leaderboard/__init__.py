"""The leaderboard of `trivium odmap`. Its template lies here, where no stage's digest covers it."""
