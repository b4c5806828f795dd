"""One page about a data set of predictions, as a function and as a command."""
