"""The stages of KVQAE."""
