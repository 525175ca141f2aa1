"""Which objects can be removed from which pictures, and the boxes of them."""
