"""Unending data: rows as they come, from files and pipes, and the place of each."""
