"""Whether models can stand in for people, and what their answers are worth."""
