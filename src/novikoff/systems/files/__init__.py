"""Files of inequalities, read or refused in a sentence: CSV, MPS, LP and npz."""
