"""Many measures of stacks of any size, and what is computed from them for groups."""
