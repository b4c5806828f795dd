"""Tests of models by their scores: on the same folds, on many data sets, and of one model against shuffled labels."""
