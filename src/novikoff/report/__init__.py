"""How results are shown to people and programs: reports, output files, plots."""
