"""Small stand-ins for the frozen public encoders, trained on pictures of entities that no world knows."""
