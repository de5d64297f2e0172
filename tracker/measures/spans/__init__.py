"""Agreement on spans: what two annotators marked in the same document."""
