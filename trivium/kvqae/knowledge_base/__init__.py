"""Articles of the knowledge base, those with an image first, and the passages cut from them."""
