"""Many measures of stacks of any size, and results for groups of samples."""
