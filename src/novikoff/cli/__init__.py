"""The command line: one module for each command, nothing heavy before it is needed."""
