"""What commands and estimators do: plain functions with a record as their result."""
