"""Calls of other libraries and the calls here, for the pages "Coming from": both are run when pages are built."""
