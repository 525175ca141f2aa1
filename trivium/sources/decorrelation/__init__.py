"""Public data and models of decorrelation, and those that users bring."""
