"""Caption English: words, tags, noun phrases, and the classes that they name."""
