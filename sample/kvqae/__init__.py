"""KVQAE's part of the sample world: entities, articles, questions, and the sources of the construction."""
