"""Where raw data comes from: made here (sample), downloaded (hub) or brought by the user (local)."""
