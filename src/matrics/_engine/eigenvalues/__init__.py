"""Eigenvalues of many small symmetric matrices at once: in steps that all of them take, without LAPACK."""
