"""Tables of labels as input, and tables of scores as output, in any library of data frames."""
