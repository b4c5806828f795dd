"""The data sets as torchmetrics takes them."""

import numpy as np
import torch

from coming.data import tensor_names


def as_tensors(_, arrays):
    """Tensors under the names that torchmetrics has for them; scores are float32."""
    names = tensor_names(arrays)
    return {names[name]: _tensor(np.asarray(array)) for name, array in arrays.items()}


def _tensor(array):
    return torch.from_numpy(array.astype(np.float32 if array.dtype.kind == "f" else np.int64))
