"""Calls of other libraries beside calls here, for the pages "Coming from": both are run when pages are built."""
