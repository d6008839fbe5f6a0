# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The routes of OpenAI's API for language models."""

from __future__ import annotations

import asyncio
import codecs
import json
import time
import uuid
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from corten.serve import _log
from corten.serve._batching import Overloaded
from corten.serve._gateway import HTTPError, error_body, json_answer
from corten.serve._generation import Generator, Piece, Usage
from corten.serve._language import LanguageRequest, parse_chat, parse_completion
from corten.serve._protocol import BadRequest
from corten.serve._requests import Deadline, read_body, read_json, wait_for
from corten.serve._settings import Settings

if TYPE_CHECKING:
    from corten.llm import LanguageModel, Tokenizer, TokenLogprob
    from corten.serve._metrics import Metrics

_Decoder = codecs.getincrementaldecoder("utf-8")


@dataclass
class _Choice:
    """One continuation, as far as it has come."""

    text: str = ""
    logprobs: list[TokenLogprob] = field(default_factory=list)
    finish_reason: str | None = None


class _Form:
    """How answers to one request look."""

    def __init__(self, asked: LanguageRequest, tokenizer: Tokenizer) -> None:
        self._asked = asked
        self._tokenizer = tokenizer
        prefix = "chatcmpl" if asked.is_chat else "cmpl"
        self._id = f"{prefix}-{uuid.uuid4().hex}"
        self._created = int(time.time())
        #: How long the text of each continuation is, and what makes text of bytes.
        self._seen: dict[int, tuple[int, codecs.IncrementalDecoder]] = {}

    def whole(self, choices: list[_Choice], usage: Usage) -> dict[str, Any]:
        kind = "chat.completion" if self._asked.is_chat else "text_completion"
        entries = []
        for index, choice in enumerate(choices):
            text: dict[str, Any] = {"text": choice.text}
            if self._asked.is_chat:
                text = {"message": {"role": "assistant", "content": choice.text}}
            logprobs = self._logprobs(index, choice.logprobs)
            entries.append(self._entry(index, text, logprobs, choice.finish_reason))
        return {**self._head(kind), "choices": entries, "usage": _usage(usage)}

    def first(self, index: int) -> dict[str, Any]:
        """Who speaks, before anything is said."""
        delta = {"delta": {"role": "assistant", "content": ""}}
        return self._chunk([self._entry(index, delta, None, None)])

    def piece(self, piece: Piece) -> dict[str, Any]:
        text: dict[str, Any] = {"text": piece.text}
        if self._asked.is_chat:
            text = {"delta": {"content": piece.text} if piece.text else {}}
        logprobs = None
        if piece.logprob is not None:
            logprobs = self._logprobs(piece.index, [piece.logprob])
        return self._chunk(
            [self._entry(piece.index, text, logprobs, piece.finish_reason)]
        )

    def last(self, usage: Usage) -> dict[str, Any]:
        return {**self._chunk([]), "usage": _usage(usage)}

    def _head(self, kind: str) -> dict[str, Any]:
        return {
            "id": self._id,
            "object": kind,
            "created": self._created,
            "model": self._asked.model,
        }

    def _chunk(self, choices: list[dict[str, Any]]) -> dict[str, Any]:
        kind = "chat.completion.chunk" if self._asked.is_chat else "text_completion"
        return {**self._head(kind), "choices": choices}

    def _entry(
        self,
        index: int,
        text: dict[str, Any],
        logprobs: dict[str, Any] | None,
        finish_reason: str | None,
    ) -> dict[str, Any]:
        return {
            "index": index,
            **text,
            "logprobs": logprobs,
            "finish_reason": finish_reason,
        }

    def _logprobs(self, index: int, found: list[TokenLogprob]) -> dict[str, Any] | None:
        if self._asked.sampling.logprobs is None:
            return None
        if self._asked.is_chat:
            return {"content": [self._chat_logprob(one) for one in found]}
        return {
            "tokens": [self._name(one.token) for one in found],
            "token_logprobs": [one.logprob for one in found],
            "top_logprobs": [self._top(one) for one in found],
            "text_offset": [self._offset(index, one.token) for one in found],
        }

    def _name(self, token: int, mark: str = "bytes:") -> str:
        """The text of a token, or its bytes where it has only a part of one."""
        spelled = self._tokenizer.token_bytes(token)
        if not spelled:
            return f"token_id:{token}"
        try:
            return spelled.decode()
        except UnicodeDecodeError:
            return mark + "".join(f"\\x{byte:02x}" for byte in spelled)

    def _top(self, found: TokenLogprob) -> dict[str, float]:
        named: dict[str, float] = {}
        for token, value in found.top:
            name = self._name(token)
            # Several may have one text.
            named[f"token_id:{token}" if name in named else name] = value
        return named

    def _offset(self, index: int, token: int) -> int:
        """How much text there was before a token, which comes next."""
        if index not in self._seen:
            self._seen[index] = (0, _Decoder("replace"))
        length, decoder = self._seen[index]
        if not self._tokenizer.is_special(token):
            text = decoder.decode(self._tokenizer.token_bytes(token))
            self._seen[index] = (length + len(text), decoder)
        return length

    def _chat_logprob(self, found: TokenLogprob) -> dict[str, Any]:
        return {
            **self._chat_token(found.token, found.logprob),
            "top_logprobs": [self._chat_token(*one) for one in found.top],
        }

    def _chat_token(self, token: int, logprob: float) -> dict[str, Any]:
        spelled = self._tokenizer.token_bytes(token)
        return {
            "token": self._name(token, mark=""),
            "logprob": logprob,
            "bytes": list(spelled) or None,
        }


def _usage(usage: Usage) -> dict[str, int]:
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
    }


class LanguageRoutes:
    """``/v1``, for some language models."""

    def __init__(
        self, models: Mapping[str, LanguageModel], settings: Settings, metrics: Metrics
    ) -> None:
        self._settings = settings
        self._created = int(time.time())
        self._generators = {
            name: Generator(name, model, settings, metrics)
            for name, model in models.items()
        }
        for name, model in models.items():
            _log.info(
                "language model",
                name=name,
                context=model.max_context_length,
                batching=model.batching,
            )

    def routes(self) -> list[Route]:
        return [
            Route("/v1/models", self._models),
            Route("/v1/models/{name}", self._model),
            Route("/v1/completions", self._completions, methods=["POST"]),
            Route("/v1/chat/completions", self._chat, methods=["POST"]),
        ]

    def close(self) -> None:
        for generator in self._generators.values():
            generator.close()

    def _describe(self, name: str) -> dict[str, Any]:
        return {
            "id": name,
            "object": "model",
            "created": self._created,
            "owned_by": "corten",
        }

    async def _models(self, request: Request) -> Response:
        data = [self._describe(name) for name in self._generators]
        return json_answer({"object": "list", "data": data})

    async def _model(self, request: Request) -> Response:
        name = request.path_params["name"]
        self._find(name)
        return json_answer(self._describe(name))

    async def _completions(self, request: Request) -> Response:
        return await self._generate(request, parse_completion)

    async def _chat(self, request: Request) -> Response:
        return await self._generate(request, parse_chat)

    def _find(self, name: str) -> Generator:
        generator = self._generators.get(name)
        if generator is None:
            names = ", ".join(self._generators) or "none"
            raise HTTPError(404, f"there is no model {name}; models here: {names}")
        return generator

    async def _generate(
        self, request: Request, parse: Callable[[bytes | bytearray], LanguageRequest]
    ) -> Response:
        deadline = Deadline(self._settings.timeout)
        max_body = min(self._settings.max_body, self._settings.max_json_body)
        body = await read_body(request, max_body, deadline)
        try:
            asked = await read_json(request, len(body), deadline, partial(parse, body))
            generator = self._find(asked.model)
            request.scope["corten.model"] = generator.name
            generator.check(asked)
        except BadRequest as error:
            raise HTTPError(400, str(error)) from None
        form = _Form(asked, generator.model.tokenizer)
        usage = Usage()
        pieces = generator.generate(asked, usage)
        try:
            if not asked.is_streamed:
                gathering = asyncio.ensure_future(_gather(asked, pieces))
                choices = await wait_for(request, gathering, deadline)
                return json_answer(form.whole(choices, usage))
            # What cannot be done is said before a stream begins.
            first = await wait_for(
                request, asyncio.ensure_future(anext(pieces)), deadline
            )
        except Overloaded as error:
            raise HTTPError(429, str(error), {"Retry-After": "1"}) from None
        except BadRequest as error:
            raise HTTPError(400, str(error)) from None
        except MemoryError:
            raise HTTPError(503, "there is not enough memory for this text") from None
        return _EventStream(_stream(asked, form, first, pieces, usage, deadline))


async def _gather(
    asked: LanguageRequest, pieces: AsyncGenerator[Piece]
) -> list[_Choice]:
    choices = [_Choice() for _ in range(asked.texts)]
    async with aclosing(pieces):
        async for piece in pieces:
            choice = choices[piece.index]
            choice.text += piece.text
            choice.finish_reason = piece.finish_reason
            if piece.logprob is not None:
                choice.logprobs.append(piece.logprob)
    return choices


class _EventStream(StreamingResponse):
    """Ends what makes its events with itself, however it ends."""

    def __init__(self, events: AsyncGenerator[bytes]) -> None:
        super().__init__(events, media_type="text/event-stream")
        self._events = events

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(self._events):
            await super().__call__(scope, receive, send)


async def _stream(
    asked: LanguageRequest,
    form: _Form,
    first: Piece,
    pieces: AsyncGenerator[Piece],
    usage: Usage,
    deadline: Deadline,
) -> AsyncGenerator[bytes]:
    try:
        if asked.is_chat:
            for index in range(asked.count):
                yield _event(form.first(index))
        yield _event(form.piece(first))
        while piece := await _next(pieces, deadline):
            yield _event(form.piece(piece))
        if asked.has_usage:
            yield _event(form.last(usage))
        yield b"data: [DONE]\n\n"
    # The head is out: all that is left is to say it in the stream.
    except HTTPError as error:
        yield _event(error_body("/v1/", error))
    except Exception:
        _log.error("generation failed", model=asked.model)
        yield _event(error_body("/v1/", HTTPError(500, "the generation failed")))
    finally:
        await pieces.aclose()


async def _next(pieces: AsyncGenerator[Piece], deadline: Deadline) -> Piece | None:
    """The next one, if it comes in time; None after the last. Raises ``HTTPError``."""
    try:
        async with asyncio.timeout(deadline.left()):
            return await anext(pieces, None)
    except TimeoutError:
        raise HTTPError(504, f"no end within {deadline.seconds:g} s") from None


def _event(value: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(value, separators=(",", ":")).encode() + b"\n\n"
