"""ViQuAE built again from TriviaQA, Wikidata and Commons, a step a module."""
