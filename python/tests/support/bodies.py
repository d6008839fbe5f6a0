# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random bodies of requests, and how many of them to try."""

from __future__ import annotations

import functools
import os
import re
import time
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

#: More than a few are for a long run, and then they are other ones every time.
EXAMPLES = int(os.environ.get("CORTEN_FUZZ_EXAMPLES", "150"))
#: For a run of a certain length: how long each test goes on, with others each time.
SECONDS = float(os.environ.get("CORTEN_FUZZ_SECONDS", "0"))
FUZZ = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=not {"CORTEN_FUZZ_EXAMPLES", "CORTEN_FUZZ_SECONDS"} & set(os.environ),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def fuzz(*arguments: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """``given``, again and again for as long as is asked for."""

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        once = FUZZ(given(*arguments)(test))

        @functools.wraps(once)
        def repeated(**fixtures: Any) -> None:
            end = time.monotonic() + SECONDS
            once(**fixtures)
            while time.monotonic() < end:
                once(**fixtures)

        return repeated

    return decorate


#: Words that mean something somewhere, so that random objects get past the door.
WORDS = st.sampled_from(
    [
        "inputs",
        "outputs",
        "parameters",
        "name",
        "shape",
        "datatype",
        "data",
        "id",
        "binary_data_size",
        "binary_data",
        "binary_data_output",
        "timeout",
        "sequence_id",
        "classification",
        "x",
        "i",
        "b",
        "h",
        "y",
        "z",
        "FP32",
        "INT8",
        "BOOL",
        "BF16",
        "model",
        "prompt",
        "messages",
        "role",
        "content",
        "stop",
        "seed",
        "n",
        "stream",
        "temperature",
        "top_p",
        "logprobs",
        "top_logprobs",
        "logit_bias",
        "stream_options",
        "user",
        "max_tokens",
        "max_completion_tokens",
        "include_usage",
        "echo",
        "tools",
        "text",
        "type",
    ]
)
NUMBERS = (
    st.integers(-3, 70)
    | st.sampled_from([2**31, 2**63, 2**64, 10**30, -(10**30), 1 << 40])
    | st.floats()
)


def nested(depth: int) -> Any:
    """A number in so many lists."""
    return functools.reduce(lambda inner, _: [inner], range(depth), 0.5)


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | NUMBERS
    | WORDS
    | st.text(max_size=5)
    | st.integers(1, 300).map(nested),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(WORDS | st.text(max_size=3), inner, max_size=6)
    ),
    max_leaves=25,
)


@st.composite
def changed(draw: st.DrawFn, value: Any) -> Any:
    """The value with something in it replaced, left out or added."""
    if isinstance(value, dict) and value and draw(st.booleans()):
        key = draw(st.sampled_from(sorted(value)))
        if draw(st.integers(0, 4)) == 0:
            return {name: one for name, one in value.items() if name != key}
        return {**value, key: draw(changed(value[key]))}
    if isinstance(value, list) and value and draw(st.booleans()):
        place = draw(st.integers(0, len(value) - 1))
        return [*value[:place], draw(changed(value[place])), *value[place + 1 :]]
    return draw(JSON)


#: Numbers that Python reads and does not write, or neither.
_ODD_NUMBERS = [b"1" * 5000, b"-1e999", b"1E400", b"NaN", b"-Infinity", b"01", b"0x1"]


@st.composite
def spoiled(draw: st.DrawFn, text: bytes) -> bytes:
    """The text cut off, with something in it, or with another number."""
    place = draw(st.integers(0, len(text)))
    kind = draw(st.sampled_from(["whole", "whole", "cut", "insert", "number"]))
    if kind == "cut":
        return text[:place]
    if kind == "insert":
        return text[:place] + draw(st.binary(min_size=1, max_size=8)) + text[place:]
    numbers = list(re.finditer(rb"\d+", text))
    if kind == "whole" or not numbers:
        return text
    found = draw(st.sampled_from(numbers))
    odd = draw(st.sampled_from(_ODD_NUMBERS))
    return text[: found.start()] + odd + text[found.end() :]
