"""Combinations of two columns' codes, numbered in the order in which they appear."""

from __future__ import annotations

from typing import Any

import numpy as np

from matrics.cli.counting.codes import Integers

Array = Any


class Pairs:
    """The pairs of a left and a right number; of three columns, the left numbers are those of pairs."""

    def __init__(self, left: Array = (), right: Array = ()) -> None:
        self.left, self.right = np.asarray(left, np.int64), np.asarray(right, np.int64)
        self._width = 0  # a pair is the integer left · width + right, until there are more right numbers
        self._keys = Integers()

    def __len__(self) -> int:
        return len(self.left)

    def encode(self, left: Array, right: Array, number_of_right: int) -> Array:
        """The number of every row's pair."""
        if number_of_right > self._width:
            self._width = 2 ** (number_of_right - 1).bit_length()
            self._keys = Integers()
            self._keys.learn(self.left * self._width + self.right)
        found = self._keys.encode(left * self._width + right)
        new = np.divmod(self._keys.known[len(self) :], self._width)
        self.left, self.right = np.append(self.left, new[0]), np.append(self.right, new[1])
        return found
