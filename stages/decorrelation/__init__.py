"""The stages of decorrelation."""
