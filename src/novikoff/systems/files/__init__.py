"""Files of inequalities (CSV, MPS, LP, npz), read into a `Model` or refused in a sentence."""
