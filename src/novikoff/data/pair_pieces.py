class PairPieces: pass
