"""Where scores of a training run are written: one file a kind of destination."""
