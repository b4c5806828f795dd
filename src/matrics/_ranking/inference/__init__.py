"""How sure measures of scores are: limits of one model, and comparisons of several."""
