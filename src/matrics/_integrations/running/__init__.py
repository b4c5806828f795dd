"""Recipes of running metrics: the arrays and counts of each kind of metric, independent of a framework.

A ``Recipe`` (in ``recipe.py``) describes a kind of metric. The adapters in ``_integrations/torch``,
``_integrations/torchmetrics`` and ``_integrations/flax`` turn any recipe into a metric of their framework: storage,
``update``, ``compute``, ``forward``, ``log_dict``, ``reset``, ``clone``, ``merge_state``, ``sync``, checkpoints,
devices and dtypes. A recipe uses arrays of a library (``"torch"`` or ``"jax"``), and no framework.

An adapter uses these attributes and methods of a recipe; ``arrays`` is a dict of all arrays by name:

``recipe.empty()``
    Two dicts of new arrays: sums over batches and processes, all 0, and settings that do not add up, such as edges.
        Arrays without elements are in neither dict.
``recipe.count(arrays, y_true, y_pred, mask=, sample_weight=, are_logits=)``
    Adds a batch to the arrays: tensors change in place, and other arrays are replaced in the dict. Invalid batches
        raise an error before anything changes. Weights decay first; in a window the batch replaces the oldest batch.
``recipe.batch(arrays, ...)``, ``recipe.absorb(arrays, batch)``
    The same in two steps: the arrays of the batch alone, from which ``forward`` computes values, and their addition.
``recipe.forget(arrays)``
    Decays the counts of other processes that were added up before the batch, or removes the oldest slot of a window.
``recipe.aligned(arrays)``
    The arrays with the slots of windows in the order of time, so that arrays of two metrics can be added.
``recipe.state(arrays)``, ``recipe.view(arrays)``
    The running state of all counts, as a copy or in the memory of the arrays.
``recipe.values``
    The requested values: ``values.of(state)`` is a dict of scalars, ``values.keys`` has their names.
``recipe.options``
    A dict of the options that differ from the defaults: equal recipes with equal arrays may share the arrays.
``recipe.check_like(other, arrays, others)``, ``recipe.check_loaded(loaded, arrays, keys)``
    Raise an error for a metric to merge, or a checkpoint, with other contents.
``recipe.kind``, ``recipe.second``
    The name of the kind in the table of parameters, and the name of the argument after ``y_true``.

``CombinedRecipe`` consists of several recipes: ``Metrics`` counts each batch into all arrays that its measures need.

A new kind of metric is a file with a subclass of ``Recipe``, which implements ``__init__``, ``_empty``, ``_add`` and
``_state``, and a class of a few lines in ``metrics.py`` of each framework; CONTRIBUTING.md has an example.
"""
