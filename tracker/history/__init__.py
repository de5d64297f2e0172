"""Agreement over time: snapshots of a project's figures and tallies, kept and never changed."""
