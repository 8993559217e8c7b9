"""Systems of linear inequalities: a point, or the few rows that contradict each other."""
