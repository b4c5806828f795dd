"""Files of any kind as rows or as stacks of confusion matrices, and outputs that are kept whole (extra cli)."""
