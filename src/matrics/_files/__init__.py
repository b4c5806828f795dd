"""Files of any kind as rows or as stacks of confusion matrices, and outputs that are never half written (extra cli)."""
