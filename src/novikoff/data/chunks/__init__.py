"""Files larger than memory: their rows in blocks, and blocks kept on disk."""
