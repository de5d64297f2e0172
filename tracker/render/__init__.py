"""What a person reads: figures as rich renderables for a terminal."""
