"""The loop and what it runs on: rows, problem, orders, updates, stops, trace."""
