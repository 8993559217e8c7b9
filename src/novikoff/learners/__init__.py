"""The scikit-learn estimators. They call `novikoff.core` and `novikoff.geometry`."""
