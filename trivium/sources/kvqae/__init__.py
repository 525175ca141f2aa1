"""Public data and models of KVQAE, and those that users bring."""
