"""Files of inequalities, read or refused in a sentence.

CSV, MPS and LP become a `LinearSystem`; npz becomes a dict of arrays, the arguments of `solve`.
"""
