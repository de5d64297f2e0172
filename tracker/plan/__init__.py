"""What it takes to know a figure as well as one wants to, and what happened on the way."""
