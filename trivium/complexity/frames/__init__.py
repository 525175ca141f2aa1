"""The frame parser: trained, measured, and used to annotate the adaptation corpus."""
