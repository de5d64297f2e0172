"""The demonstration's data: published examples, made or shipped. One row is one answer."""
