"""Pictures: each file has a function that draws, and a display with the data."""
