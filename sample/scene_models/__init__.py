"""Where the sample's retrieval models start: small networks of the released models' architectures."""
