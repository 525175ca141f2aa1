"""What makes the questions of any set hard for the models that answered them (docs/difficulty.md)."""
