"""What is stored and how: tables, databases, seals, the ledger as it was."""
