"""What passes between the ledger and other programs: requests with keys, webhooks."""
