# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What clients ask of a language model, as OpenAI's API has it.

Whatever a client sends is a request or a ``BadRequest``; nothing here trusts it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from corten.llm import Sampling
from corten.serve._protocol import BadRequest, parse_json

#: How many alternatives to a token may be asked for.
MAX_LOGPROBS = 20
#: How many texts to stop at there may be.
MAX_STOPS = 16

#: Text, tokens, or the messages of a conversation.
Prompt = str | list[int] | list[Mapping[str, Any]]


@dataclass(frozen=True)
class LanguageRequest:
    """What a client wants to be continued, and how."""

    model: str
    prompts: list[Prompt]
    sampling: Sampling
    #: How many continuations of each prompt.
    count: int
    is_chat: bool
    is_streamed: bool
    #: Whether a stream ends with the number of tokens.
    has_usage: bool

    @property
    def texts(self) -> int:
        """How many are to be generated."""
        return len(self.prompts) * self.count


def parse_completion(body: bytes | bytearray) -> LanguageRequest:
    """A request for ``/v1/completions``. Raises ``BadRequest``."""
    request = parse_json(body)
    _refuse(request, {"echo": (False,), "suffix": ("",), "best_of": (1,)})
    logprobs = _number(request, "logprobs", int, 0, MAX_LOGPROBS)
    max_tokens = _number(request, "max_tokens", int, 0)
    return _request(
        request,
        _prompts(request.get("prompt")),
        max_tokens=16 if max_tokens is None else max_tokens,
        logprobs=logprobs,
        is_chat=False,
    )


def parse_chat(body: bytes | bytearray) -> LanguageRequest:
    """A request for ``/v1/chat/completions``. Raises ``BadRequest``."""
    request = parse_json(body)
    _refuse(
        request,
        {
            "tools": ([],),
            "functions": ([],),
            "audio": (),
            "response_format": ({"type": "text"},),
            "modalities": (["text"],),
        },
    )
    logprobs = _flag(request, "logprobs")
    top = _number(request, "top_logprobs", int, 0, MAX_LOGPROBS)
    if top is not None and not logprobs:
        raise BadRequest("top_logprobs wants logprobs to be true")
    max_tokens = _number(request, "max_completion_tokens", int, 0)
    if max_tokens is None:
        max_tokens = _number(request, "max_tokens", int, 0)
    return _request(
        request,
        [_messages(request.get("messages"))],
        max_tokens=max_tokens,
        logprobs=(top or 0) if logprobs else None,
        is_chat=True,
    )


def _request(
    request: Mapping[str, Any],
    prompts: list[Prompt],
    *,
    max_tokens: int | None,
    logprobs: int | None,
    is_chat: bool,
) -> LanguageRequest:
    model = request.get("model")
    if not isinstance(model, str):
        raise BadRequest("model has to be the name of one")
    options = request.get("stream_options")
    if options is not None and not isinstance(options, dict):
        raise BadRequest("stream_options has to be an object")
    count = _number(request, "n", int, 1, 1 << 30)
    return LanguageRequest(
        model=model,
        prompts=prompts,
        sampling=_sampling(request, max_tokens, logprobs),
        count=1 if count is None else count,
        is_chat=is_chat,
        is_streamed=_flag(request, "stream"),
        has_usage=_flag(options or {}, "include_usage"),
    )


def _sampling(
    request: Mapping[str, Any], max_tokens: int | None, logprobs: int | None
) -> Sampling:
    values = {
        "temperature": _number(request, "temperature", float, 0, 100),
        "top_p": _number(request, "top_p", float, 0, 1),
        "presence_penalty": _number(request, "presence_penalty", float, -2, 2),
        "frequency_penalty": _number(request, "frequency_penalty", float, -2, 2),
        # Not OpenAI's, but what other servers of its API take.
        "top_k": _number(request, "top_k", int, 0, 1 << 30),
        "min_p": _number(request, "min_p", float, 0, 1),
        "repetition_penalty": _number(request, "repetition_penalty", float, 0, 100),
    }
    # What OpenAI takes if nothing is said.
    if values["temperature"] is None:
        values["temperature"] = 1.0
    seed = _number(request, "seed", int)
    given = {name: value for name, value in values.items() if value is not None}
    try:
        return Sampling(
            max_tokens=max_tokens,
            logprobs=logprobs,
            stop=_stops(request.get("stop")),
            seed=None if seed is None else seed % (1 << 63),
            logit_bias=_bias(request.get("logit_bias")),
            ignore_eos=_flag(request, "ignore_eos"),
            **given,
        )
    except ValueError as error:
        raise BadRequest(str(error)) from None


def _refuse(
    request: Mapping[str, Any], harmless: Mapping[str, tuple[Any, ...]]
) -> None:
    """What would change the answer and is not here."""
    for name, values in harmless.items():
        value = request.get(name)
        if value is not None and value not in values:
            raise BadRequest(f"this server does not support {name}")


def _flag(request: Mapping[str, Any], name: str) -> bool:
    value = request.get(name)
    if value is not None and not isinstance(value, bool):
        raise BadRequest(f"{name} has to be true or false")
    return bool(value)


def _number(
    request: Mapping[str, Any],
    name: str,
    kind: Callable[[Any], Any],
    low: float = -math.inf,
    high: float = math.inf,
) -> Any:
    value = request.get(name)
    if value is None:
        return None
    is_number = type(value) is int or (kind is float and type(value) is float)
    # Not a number compares as false.
    if not is_number or not low <= value <= high:
        what = "a whole number" if kind is int else "a number"
        raise BadRequest(f"{name} has to be {what} from {low} to {high}")
    return kind(value)


def _prompts(prompt: Any) -> list[Prompt]:
    if isinstance(prompt, str):
        return [prompt]
    if isinstance(prompt, list) and prompt:
        if all(isinstance(one, str) for one in prompt):
            return list(prompt)
        if all(type(token) is int for token in prompt):
            return [prompt]
        if all(
            isinstance(one, list) and all(type(token) is int for token in one)
            for one in prompt
        ):
            return list(prompt)
    raise BadRequest("prompt has to be text, tokens, or a list of either")


def _messages(messages: Any) -> Prompt:
    if not isinstance(messages, list) or not messages:
        raise BadRequest("messages has to be a list of at least one")
    for message in messages:
        is_message = isinstance(message, dict) and isinstance(message.get("role"), str)
        if not is_message or not isinstance(message.get("content"), str | list):
            raise BadRequest("each message has to have a role and a content")
    return messages


def _stops(stop: Any) -> tuple[str, ...]:
    if stop is None:
        return ()
    if isinstance(stop, str):
        return (stop,)
    is_list = isinstance(stop, list) and all(isinstance(text, str) for text in stop)
    if not is_list or len(stop) > MAX_STOPS:
        raise BadRequest(f"stop has to be text, or up to {MAX_STOPS} of them")
    return tuple(stop)


def _bias(bias: Any) -> dict[int, float]:
    if bias is None:
        return {}
    if not isinstance(bias, dict):
        raise BadRequest("logit_bias has to be an object")
    found = {}
    for token, value in bias.items():
        is_token = token.isascii() and token.isdigit() and len(token) < 10
        if not is_token or type(value) not in (int, float) or not abs(value) <= 100:
            raise BadRequest("logit_bias has to be numbers from -100 to 100 by token")
        found[int(token)] = float(value)
    return found
