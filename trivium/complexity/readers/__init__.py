"""The readers that are trained here, a file a kind, behind one interface."""
