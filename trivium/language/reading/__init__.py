"""What questions and answers of a language are compared by: words, stems, stop words, articles, sentences."""
