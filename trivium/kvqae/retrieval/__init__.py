"""First-stage retrieval: BM25, DPR, faces and whole images, their fusion and evaluation."""
