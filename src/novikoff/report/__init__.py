"""What a person or another program gets to see: models, reports, plots."""
