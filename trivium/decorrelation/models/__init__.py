"""The retrieval models, a file a kind, behind one interface."""
