"""The systems of linear inequalities behind statistical models: does the estimate exist (H1)."""
