"""The gate: what a project is held to, as a file says it, and whether it holds."""
