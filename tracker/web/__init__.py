"""The ledger in a browser and for programs: pages, and the interface behind ``tracker serve``."""
