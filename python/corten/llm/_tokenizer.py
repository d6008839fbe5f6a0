# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Text to tokens and back, and what a conversation looks like as text."""

from __future__ import annotations

import functools
import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    import jinja2

#: Special tokens with one of these in their names end what the model says.
_ENDS_OF_TURN = ("end_of_turn", "im_end", "eot_id", "endoftext", "eot_token")
#: What decoding gives for bytes that are no character, or not one yet.
_INCOMPLETE = "\ufffd"
#: The bytes of a character after its first one, and so tokens, at most.
_MOST_TO_COME = 3


def _spelled_bytes() -> dict[str, int]:
    """The bytes that characters stand for in tokenizers of bytes.

    Those that are printed in Latin-1 stand for themselves, and what follows Latin-1
    for the others.
    """
    others = [b for b in range(256) if b == 0x20 or not chr(b).isprintable()]
    hidden = {chr(256 + i): byte for i, byte in enumerate(others)}
    return {chr(b): b for b in range(256) if b not in others} | hidden


_BYTES = _spelled_bytes()
#: A byte, in tokenizers of characters that spell the others in bytes.
_BYTE = re.compile("<0x([0-9A-Fa-f]{2})>")


class Tokenizer:
    """The tokenizer of a bundle: the files of ``tokenizer/``."""

    def __init__(self, folder: Path) -> None:
        try:
            from tokenizers import Tokenizer as Fast
        except ImportError:
            raise ImportError(
                "language models need the package tokenizers: pip install 'corten[llm]'"
            ) from None
        self._folder = folder
        self._fast: Any = Fast.from_file(str(folder / "tokenizer.json"))
        self._config = _read_json(folder / "tokenizer_config.json")
        #: Tokens that end the generation.
        self.stop_tokens = frozenset(self._find_stop_tokens())

    @property
    def vocab_size(self) -> int:
        """How many tokens there are, those that were added with them."""
        return int(self._fast.get_vocab_size(with_added_tokens=True))

    def encode(self, text: str, *, special: bool = True) -> list[int]:
        """The tokens of a text; with ``special``, those that begin or end one."""
        return list(self._fast.encode(text, add_special_tokens=special).ids)

    def decode(self, tokens: Iterable[int], *, special: bool = False) -> str:
        """The text of tokens; with ``special``, that of special ones too."""
        return str(self._fast.decode(list(tokens), skip_special_tokens=not special))

    def token_bytes(self, token: int) -> bytes:
        """What one token adds to a text: it may be a part of a character.

        Those of a special token are its name, and a token that there is not has none.
        """
        piece: str | None = self._fast.id_to_token(token)
        if piece is None:
            return b""
        for step in () if token in self._special else self._decoder:
            match step:
                case {"type": "ByteLevel"}:
                    if all(character in _BYTES for character in piece):
                        return bytes(map(_BYTES.__getitem__, piece))
                case {"type": "ByteFallback"}:
                    if found := _BYTE.fullmatch(piece):
                        return bytes.fromhex(found[1])
                case {"type": "Replace", "pattern": {"String": old}, "content": new}:
                    piece = piece.replace(old, new)
                case {"type": "Metaspace", "replacement": old}:
                    piece = piece.replace(old, " ")
                # They change where texts begin, and tokens stand behind others.
                case {"type": "Fuse" | "Strip"}:
                    pass
                case _:
                    return self.decode([token], special=True).encode()
        return piece.encode()

    def is_special(self, token: int) -> bool:
        """Whether a token is no part of the text."""
        return token in self._special

    @functools.cached_property
    def _special(self) -> frozenset[int]:
        added = self._fast.get_added_tokens_decoder()
        return frozenset(token for token, one in added.items() if one.special)

    @functools.cached_property
    def _decoder(self) -> list[dict[str, Any]]:
        """What makes text of tokens, step by step."""
        decoder = self._fast.decoder
        if decoder is None:
            return [{}]
        step = json.loads(decoder.__getstate__())
        return list(step["decoders"]) if step["type"] == "Sequence" else [step]

    def token_id(self, text: str) -> int | None:
        """The token that is spelled like this."""
        found: int | None = self._fast.token_to_id(text)
        return found

    @property
    def has_chat_template(self) -> bool:
        """Whether the bundle says what a conversation looks like."""
        return self._template_text is not None

    def chat(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        reply: bool = True,
        **variables: Any,
    ) -> str:
        """A conversation as text, up to where the model is to reply.

        Messages have a ``role`` and a ``content``. Other variables go to the
        template. Raises ``ValueError`` for what the template refuses.
        """
        import jinja2

        if self._template_text is None:
            raise ValueError(
                f"{self._folder} has no chat template: give the text itself"
            )
        try:
            return self._template.render(
                messages=[_plain(message) for message in messages],
                add_generation_prompt=reply,
                **self._named_tokens,
                **variables,
            )
        except jinja2.TemplateError as error:
            raise ValueError(f"the chat template refuses this: {error}") from None

    @functools.cached_property
    def _template_text(self) -> str | None:
        file = self._folder / "chat_template.jinja"
        if file.is_file():
            return file.read_text(encoding="utf-8")
        template = self._config.get("chat_template")
        if isinstance(template, list):
            named = {one["name"]: one["template"] for one in template}
            template = named.get("default")
        return template if isinstance(template, str) else None

    @functools.cached_property
    def _template(self) -> jinja2.Template:
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=["jinja2.ext.loopcontrols"],
        )
        environment.filters["tojson"] = _to_json
        environment.globals["raise_exception"] = _refuse
        environment.globals["strftime_now"] = _now
        return environment.from_string(self._template_text or "")

    @functools.cached_property
    def _named_tokens(self) -> dict[str, str]:
        """The special tokens that templates name, as ``bos_token``."""
        return {
            name: _content(value)
            for name, value in self._config.items()
            if name.endswith("_token") and _content(value)
        }

    def _find_stop_tokens(self) -> Iterable[int]:
        names: list[str] = []
        for key in (
            "eos_token",
            "additional_special_tokens",
            # What transformers calls them since its release 5.
            "extra_special_tokens",
            *_ENDS_OF_TURN,
        ):
            value = self._config.get(key)
            names += map(_content, value if isinstance(value, list) else [value])
        for token in self._fast.get_added_tokens_decoder().values():
            if token.special and any(end in token.content for end in _ENDS_OF_TURN):
                names.append(token.content)
        for name in names:
            token = self.token_id(name) if name else None
            if token is not None:
                yield token


class TextStream:
    """The text of tokens that come one by one, never a part of a character.

    Tokens are decoded together with those before them, since the text of a token
    may depend on its neighbours.
    """

    def __init__(self, tokenizer: Tokenizer, before: Sequence[int] = ()) -> None:
        self._tokenizer = tokenizer
        # What was given out last, and what is held back after it.
        self._shown = list(before[-_MOST_TO_COME - 1 :])
        self._held: list[int] = []
        # A character that begins in it is still to come.
        self._text = tokenizer.decode(self._shown).removesuffix(_INCOMPLETE)

    def push(self, token: int) -> str:
        """What became known of the text with this token."""
        self._held.append(token)
        text = self._tokenizer.decode(self._shown + self._held)
        if not text.endswith(_INCOMPLETE):
            return self._give(len(self._held), text)
        ready = len(self._held) - _MOST_TO_COME
        if ready <= 0:
            return ""
        # No character is that long: the first of them begins none.
        return self._give(ready, None)

    def finish(self) -> str:
        """What is left, with a sign for what did not become a character."""
        return self._give(len(self._held), None)

    def copy(self) -> TextStream:
        """One that goes on from here."""
        other = TextStream(self._tokenizer)
        other._shown, other._held = self._shown.copy(), self._held.copy()
        other._text = self._text
        return other

    def _give(self, count: int, text: str | None) -> str:
        if text is None:
            text = self._tokenizer.decode(self._shown + self._held[:count])
        new = text[len(self._text) :]
        if count:
            self._shown = self._held[:count]
            del self._held[:count]
            self._text = self._tokenizer.decode(self._shown)
        return new


class StopStrings:
    """Holds back what may become one of the texts to stop at."""

    def __init__(self, stop: Sequence[str]) -> None:
        self._stop = stop
        self._held = ""
        #: The text that was met.
        self.met: str | None = None

    def push(self, text: str) -> str:
        """What is certainly part of the result."""
        self._held += text
        found = [
            (self._held.find(stop), stop) for stop in self._stop if stop in self._held
        ]
        if found:
            place, self.met = min(found)
            ready, self._held = self._held[:place], ""
            return ready
        keep = max((self._overlap(stop) for stop in self._stop), default=0)
        ready = self._held[: len(self._held) - keep]
        self._held = self._held[len(self._held) - keep :]
        return ready

    def finish(self) -> str:
        """What was held back, now that nothing comes any more."""
        ready, self._held = self._held, ""
        return ready

    def copy(self) -> StopStrings:
        """One that goes on from here."""
        other = StopStrings(self._stop)
        other._held, other.met = self._held, self.met
        return other

    def _overlap(self, stop: str) -> int:
        """How much of the end may be the beginning of a text to stop at."""
        for count in range(min(len(stop) - 1, len(self._held)), 0, -1):
            if self._held.endswith(stop[:count]):
                return count
        return 0


def _read_json(file: Path) -> dict[str, Any]:
    if not file.is_file():
        return {}
    value = json.loads(file.read_text(encoding="utf-8"))
    return value if isinstance(value, dict) else {}


def _content(token: Any) -> str:
    """The text of a token as configurations have it."""
    if isinstance(token, dict):
        token = token.get("content")
    return token if isinstance(token, str) else ""


def _plain(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message whose content is text: templates do not know parts of it."""
    content = message.get("content")
    if not isinstance(content, list):
        return dict(message)
    texts = []
    for part in content:
        if not isinstance(part, dict) or part.get("type") != "text":
            raise ValueError(f"only text can be part of a message, not {part!r}")
        texts.append(str(part.get("text", "")))
    return {**message, "content": "".join(texts)}


def _to_json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _refuse(message: str) -> str:
    import jinja2

    raise jinja2.TemplateError(message)


def _now(form: str) -> str:
    import datetime

    return datetime.datetime.now().astimezone().strftime(form)
