# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models over datasets of Ray's."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from corten._predictor import Predictor as LocalPredictor
from corten._texts import TextPredictor as LocalTextPredictor
from corten.llm import is_bundle
from corten.ray._resources import assigned_threads, processors

if TYPE_CHECKING:
    from ray.data import Dataset

    from corten._text import StrPath


class Predictor(LocalPredictor):
    """For ``map_batches``: one engine for each actor, a thread for each processor.

    Options as for :class:`corten.batch.Predictor`::

        ds.map_batches(
            corten.ray.Predictor,
            fn_constructor_args=("model.aimodel",),
            batch_size=256,
            concurrency=8,
        )
    """

    def threads(self) -> int | None:
        if self._threads is not None:
            return self._threads
        return assigned_threads()


class TextPredictor(LocalTextPredictor):
    """For ``map_batches``: a language model for each actor.

    Options as for :class:`corten.batch.TextPredictor`.
    """

    def threads(self) -> int | None:
        if self._threads is not None:
            return self._threads
        return assigned_threads()


def predict(
    dataset: Dataset,
    asset: StrPath,
    *,
    batch_size: int = 256,
    concurrency: int | tuple[int, int] | None = None,
    num_cpus: int = 1,
    **options: Any,
) -> Dataset:
    """The dataset with the outputs of a model as columns, in the same order.

    Calls have ``batch_size`` rows wherever blocks begin, so results do not depend
    on how the dataset is divided, nor on the cluster. ``concurrency`` is the
    number of actors, or the least and the most; by default Ray starts as many as
    there is room for. Each has ``num_cpus`` processors and as many threads.
    ``options`` are those of :class:`Predictor`, or for a bundle of a language
    model those of :class:`TextPredictor`: ``task="generate"`` or ``"score"``,
    ``max_tokens`` and so on. Nothing runs before the result is looked at.
    """
    from ray.data import ActorPoolStrategy

    if concurrency is None:
        concurrency = (1, max(processors() // num_cpus, 1))
    least, most = concurrency if isinstance(concurrency, tuple) else [concurrency] * 2
    kind: Any = TextPredictor
    if not is_bundle(asset):
        kind = Predictor
        options = {"rows_per_call": batch_size, **options}
    result = dataset.map_batches(
        kind,
        fn_constructor_args=(os.path.abspath(asset),),
        fn_constructor_kwargs=options,
        batch_size=batch_size,
        # Tensors are columns of a fixed shape, before and after.
        batch_format="pyarrow",
        compute=ActorPoolStrategy(min_size=least, max_size=most),
        num_cpus=num_cpus,
    )
    result.context.execution_options.preserve_order = True
    return result
