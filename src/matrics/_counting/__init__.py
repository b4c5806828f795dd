"""Labels in, stacks of confusion matrices out."""
