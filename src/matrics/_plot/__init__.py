"""One picture a file: a function, and a display with the data."""
