# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates with one sequence and with several, and prints a JSON line for each.

Prompts have different lengths. The best of some rounds counts; the rounds of all
numbers of sequences alternate, so that whatever else runs disturbs all of them.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

import numpy as np

import corten.llm
from benchmarks.llm import model


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks.llm", description=__doc__)
    add = parser.add_argument
    add("--weights", nargs="+", default=["f32", "int4"], choices=["f32", "int4"])
    add("--sequences", nargs="+", type=int, default=[1, 8])
    add("--width", type=int, default=1024)
    add("--layers", type=int, default=8)
    add("--prompt", type=int, default=32, help="tokens of the longest")
    add("--tokens", type=int, default=24, help="to generate")
    add("--rounds", type=int, default=5)
    add("--threads", type=int)
    add("--precision", choices=["bf16", "int8"], help="what products may be made of")
    return parser


def measure(
    decoder: corten.llm.LanguageModel, count: int, prompt: int, tokens: int
) -> float:
    """Tokens in a second, once the prompts have been read."""
    random = np.random.default_rng(0)
    sequences = [
        decoder.sequence(
            [int(token) for token in random.integers(0, 256, max(prompt - i, 1))],
            max_tokens=tokens,
            ignore_eos=True,
        )
        for i in range(count)
    ]
    for sequence in sequences:
        while not sequence.read():
            pass
    # The rows are brought together by the first call for all of them.
    for _ in range(2):
        decoder.step(sequences)
    begin = time.perf_counter()
    while not all(sequence.is_finished for sequence in sequences):
        decoder.step(sequences)
    return count * (tokens - 2) / (time.perf_counter() - begin)


def main() -> None:
    options = parser().parse_args()
    for weights in options.weights:
        with tempfile.TemporaryDirectory() as folder:
            bundle = Path(folder) / weights
            model.write(bundle, weights, options.width, options.layers)
            decoder = corten.llm.load(
                bundle, threads=options.threads, precision=options.precision
            )
            best = dict.fromkeys(options.sequences, 0.0)
            for _ in range(options.rounds):
                for count in best:
                    speed = measure(decoder, count, options.prompt, options.tokens)
                    best[count] = max(best[count], speed)
        first = best[options.sequences[0]]
        for count, speed in best.items():
            line = {
                "weights": weights,
                "precision": options.precision,
                "batching": decoder.batching,
                "sequences": count,
                "tokens_per_second": round(speed, 1),
                "ratio": round(speed / first, 2),
            }
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
