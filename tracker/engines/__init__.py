"""Other databases that count: the ledger's answers are copied to them, or lie with them."""
