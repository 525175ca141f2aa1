"""The sample world: invented, seeded, free of licences."""
