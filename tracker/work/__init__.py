"""Work on items: who is to answer which, and how far they are."""
