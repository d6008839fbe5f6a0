# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What several continuations of a long prompt take: ``python -m benchmarks.llm.forks``.

Memory of the process and the time of a fork, as JSON: when the prompt has been read,
when it has been forked, and when each sequence has some tokens of its own. What is
mapped several times counts once.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

import corten.llm
from benchmarks.llm import model


def memory() -> int:
    """Bytes of the pages that the process has mapped and touched."""
    for line in Path("/proc/self/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return 1024 * int(line.split()[1])
    raise RuntimeError("the system does not say how much memory there is")


def read_all(sequences: list[corten.llm.Sequence]) -> None:
    """So that what is mapped counts, whether a call has read it or not."""
    for sequence in sequences:
        cache = sequence._cache.memory
        assert cache is not None
        for name in cache.states:
            cache.states[name].numpy().sum()


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.llm.forks", description=__doc__)
    add = parser.add_argument
    add("--sequences", type=int, default=8)
    add("--prompt", type=int, default=900, help="tokens")
    add("--tokens", type=int, default=16, help="to generate with each")
    add("--width", type=int, default=1024)
    add("--layers", type=int, default=8)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bundle = Path(folder) / "bundle"
        model.write(bundle, "f32", options.width, options.layers)
        decoder = corten.llm.load(bundle)
        assert decoder.batching
        prompt = [i % 256 for i in range(options.prompt)]
        sequences = [decoder.sequence(prompt, temperature=1.0, ignore_eos=True, seed=1)]
        while not sequences[0].read():
            pass
        for _ in range(2):
            sequences[0].step()
        read_all(sequences)
        begin = memory()
        times = []
        for seed in range(2, options.sequences + 1):
            start = time.perf_counter()
            sequences.append(sequences[0].fork(seed=seed))
            times.append(time.perf_counter() - start)
        read_all(sequences)
        forked = memory()
        for sequence in sequences:
            for _ in range(options.tokens):
                sequence.step()
        read_all(sequences)
        alone = memory()
        for _ in range(options.tokens):
            decoder.step(sequences)
        read_all(sequences[:1])
        together = memory()
    states = options.layers * 2 * options.width * model.CONTEXT * 4
    line = {
        "sequences": options.sequences,
        "state_mib": round(states / 2**20, 1),
        "forked_mib": round((forked - begin) / 2**20, 1),
        "alone_mib": round((alone - begin) / 2**20, 1),
        "together_mib": round((together - begin) / 2**20, 1),
        "first_fork_ms": round(1e3 * times[0], 2),
        "next_fork_ms": round(1e3 * min(times[1:]), 2),
    }
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
