"""Language: dates, names, numbers, sentences and word lists. It imports no other capability."""
