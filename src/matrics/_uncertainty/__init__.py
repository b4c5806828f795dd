"""How sure a score is: intervals for every measure."""
