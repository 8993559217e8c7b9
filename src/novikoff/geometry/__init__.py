"""Separability of two classes: the verdict, its margin, and rules with few mistakes."""
