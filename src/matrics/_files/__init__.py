"""Files of any kind as rows or as stacks of confusion matrices, and outputs that are never incomplete (extra cli)."""

#: Threads of this name may wait for a file or a pipe without limit.
READER = "matrics reader"
