"""The work behind commands and estimators: plain functions, each with a record as its result."""
