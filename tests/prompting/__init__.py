"""Questions to endpoints, against a server on loopback."""
