"""The scikit-learn estimators: configurations of the core, and nothing computed here."""
