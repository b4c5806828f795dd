"""From scores to decisions: measures of rankings and probabilities, and every measure at every threshold."""
