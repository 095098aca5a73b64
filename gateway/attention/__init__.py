"""A small local model that only reads: where its attention narrows, a text can be cut, or an answer is hollow."""
