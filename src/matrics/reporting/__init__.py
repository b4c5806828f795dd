"""One page with all that is found in predictions: ``report()``."""
