"""How a text is read before it is compared: words, clauses, facts, concepts, alignment."""
