"""What leaves the ledger as rows: labels, and what is found from them."""
