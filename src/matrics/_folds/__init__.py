"""Tests of models by their scores: on the same folds, on many data sets, and against shuffled labels."""
