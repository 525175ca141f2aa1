"""The page people look at."""
