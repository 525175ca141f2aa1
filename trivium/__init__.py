"""Three roads into multimodal and textual question answering: the library."""
