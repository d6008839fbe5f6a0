# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``corten generate`` and ``corten eval``."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from corten import _command, _options
from corten._progress import Progress
from corten._tables import as_text


def _generate_parser() -> _command.Parser:
    parser = _command.Parser(
        "generate",
        "Continues a prompt with the language model of a bundle.",
        [
            'corten generate bundle "Once upon a time" --max-tokens 20',
            'corten generate bundle "Name a color." --chat --temperature 0.8 --seed 1 '
            "--max-tokens 20",
        ],
    )
    add = parser.add_argument
    add("bundle", metavar="BUNDLE", help="the folder of a language model")
    add("prompt", metavar="PROMPT", help="a text; - reads it from standard input")
    add("--chat", action="store_true", help="the prompt is what a user says")
    add("--system", metavar="TEXT", help="what goes before it; implies --chat")
    _options.add_sampling(parser)
    add("--quiet", action="store_true", help="nothing but the text")
    _add_engine(parser)
    return parser


def _eval_parser() -> _command.Parser:
    parser = _command.Parser(
        "eval",
        "Measures a language model on a text, also beside another one.",
        [
            "corten eval bundle --text text.txt",
            "corten eval bundle --text text.txt --against other --html report.html",
        ],
    )
    add = parser.add_argument
    add("bundle", metavar="BUNDLE", help="the folder of a language model")
    add("--text", metavar="FILE", required=True, help="what to measure on")
    beside = parser.add_mutually_exclusive_group()
    beside.add_argument(
        "--against", metavar="BUNDLE", help="the bundle to compare with"
    )
    beside.add_argument(
        "--reference",
        metavar="FOLDER",
        help="the PyTorch model to compare with, as transformers saves it",
    )
    add("--window", type=int, metavar="N", help="tokens to look at together")
    add("--max-tokens", type=int, metavar="N", help="of the text, at most")
    add("--html", metavar="FILE", help="write a report with plots")
    add("--json", action="store_true", help="print JSON instead of tables")
    _add_engine(parser)
    return parser


def _add_engine(parser: _command.Parser) -> None:
    """How the engine runs the model."""
    _options.add_precision(parser)
    parser.add_argument(
        "--threads",
        type=int,
        metavar="N",
        help="how many work on a call (default: one for each processor)",
    )


def _load(path: str, threads: int | None, precision: Any = None) -> Any:
    if threads is not None and threads < 1:
        raise _command.CommandError(f"--threads cannot be {threads}")
    try:
        from corten import llm

        return llm.load(path, threads=threads, precision=precision)
    except ImportError as error:
        raise _command.missing("llm", error) from None


def generate(arguments: Sequence[str]) -> int:
    """Writes the text as it comes, and then how fast it came."""
    options = _generate_parser().parse_args(arguments)
    prompt = sys.stdin.read() if options.prompt == "-" else options.prompt
    with Progress(not options.quiet) as progress:
        progress.show(f"loading {options.bundle}")
        model = _load(options.bundle, options.threads, options.precision)
    if options.chat or options.system is not None:
        messages = [{"role": "user", "content": prompt}]
        if options.system is not None:
            messages.insert(0, {"role": "system", "content": options.system})
        prompt = messages
    sequence = model.sequence(prompt, **_options.sampling_of(options))
    start = time.perf_counter()
    with Progress(not options.quiet) as progress:
        progress.show("reading the prompt", 0)
        while not sequence.read():
            progress.show("reading the prompt", sequence.read_fraction)
    read = time.perf_counter()
    for piece in sequence:
        sys.stdout.write(piece)
        sys.stdout.flush()
    end = time.perf_counter()
    sys.stdout.write("\n")
    if not options.quiet:
        count = len(sequence.generated)
        sys.stdout.flush()
        print(
            f"{sequence.prompt_length} tokens read, "
            f"{sequence.prompt_length / max(read - start, 1e-9):.1f} a second; "
            f"{count} generated, {count / max(end - read, 1e-9):.1f} a second",
            file=sys.stderr,
        )
    return _command.Exit.SUCCESS


def _reference(options: Any) -> tuple[Any, str | None]:
    """What to compare with, and what to call it."""
    from corten.llm import TorchReference

    if options.against is not None:
        return _load(options.against, options.threads), options.against
    if options.reference is None:
        return None, None
    try:
        import torch
        from transformers import AutoModelForCausalLM
    except ImportError as error:
        raise _command.CommandError(
            f"--reference needs {error.name or error}: install transformers"
        ) from None
    if not Path(options.reference).is_dir():
        raise _command.CommandError(f"{options.reference}: there is no such folder")
    module = AutoModelForCausalLM.from_pretrained(
        options.reference, dtype=torch.float32, local_files_only=True
    )
    return TorchReference(module), options.reference


def evaluate(arguments: Sequence[str]) -> int:
    """Prints tables, and writes the report."""
    options = _eval_parser().parse_args(arguments)
    if options.max_tokens is not None and options.max_tokens < 2:
        raise _command.CommandError(f"--max-tokens cannot be {options.max_tokens}")
    if options.window is not None and options.window < 2:
        raise _command.CommandError(f"--window cannot be {options.window}")
    try:
        text = Path(options.text).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise _command.CommandError(f"{options.text}: it is not UTF-8") from None
    with Progress() as progress:
        progress.show(f"loading {options.bundle}")
        model = _load(options.bundle, options.threads, options.precision)
        from corten import llm
        from corten.llm import _report

        reference, name = _reference(options)
        tokens: str | list[int] = text
        if options.max_tokens is not None:
            tokens = model.tokens_of(text)[: options.max_tokens]
        found = llm.evaluate(
            model,
            tokens,
            reference=reference,
            name=name,
            window=options.window,
            progress=lambda done, total: progress.show("reading", done / total),
        )
    if options.html is not None:
        Path(options.html).write_text(_report.as_html(found), encoding="utf-8")
    if options.json:
        print(json.dumps(_as_json(found), indent=2))
    else:
        print(as_text(_report.summary(found)))
        print()
        print(as_text(_report.by_position(found)))
    return _command.Exit.SUCCESS


def _as_json(found: Any) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "name": found.name,
        "tokens": len(found.tokens),
        "perplexity": found.perplexity,
        "logprobs": found.by_position(found.logprobs).tolist(),
    }
    compared = found.comparison
    if compared is not None:
        answer["reference"] = {
            "name": found.reference,
            "perplexity": compared.perplexity,
            "kl_divergence": float(compared.divergence.mean()),
            "top_1_agreement": float(compared.agrees.mean()),
        }
        answer["kl_divergence"] = found.by_position(compared.divergence).tolist()
        answer["top_1_agreement"] = found.by_position(compared.agrees).tolist()
    # JSON has no infinity.
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in answer.items()
    }


def main(arguments: Sequence[str]) -> int:
    """The first argument is the command."""
    commands = {"generate": generate, "eval": evaluate}
    name = arguments[0] if arguments else ""
    if name not in commands:
        raise _command.CommandError(
            f"unknown command {name!r}: there is " + ", ".join(commands)
        )
    return commands[name](arguments[1:])


if __name__ == "__main__":
    _command.run(main)
