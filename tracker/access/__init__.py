"""Who may do what: users with their roles and passwords, and the tokens of their programs."""
