"""From trivia questions to questions about pictures: the steps of the data set's construction (kvqae.md §2)."""
