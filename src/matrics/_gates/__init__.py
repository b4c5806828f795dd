"""Gates: whether counts fulfil requirements, by intervals and not by points. Public names are in ``matrics``."""
