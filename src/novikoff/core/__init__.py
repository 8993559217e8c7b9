"""The perceptron's loop and its records: rows, problems, orders, updates, runs, models."""
