"""The report: a page about the predictions of models."""
