"""The library: what three papers compute, apart from the stages that call it."""
