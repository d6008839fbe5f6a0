# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs clang-tidy over every C++ source that was built.

    .venv/bin/python scripts/tidy.py [--touched]

With ``--touched`` only over what differs from where this branch left main (on
main itself: from the commit before), working tree included; a header counts as
the source of its name, or else as the first one that includes it.

What passed is not checked again until the source, one of the headers that its
last build read, its command line, a ``.clang-tidy`` or clang-tidy itself
changes. The list is in ``~/.cache/corten/tidy``, or where ``CORTEN_TIDY_CACHE``
says, so that all clones of a machine share it.

Most of the time goes into headers that all sources of a folder read. They are
therefore checked a few at a time, as one source that includes them; only if
something is found, or if they do not go together, one by one.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

CLANG_TIDY = "clang-tidy-22"
ROOT = Path(__file__).resolve().parent.parent
#: Sources that both have are checked as the first compiles them.
BUILDS = (ROOT / "build/dev", ROOT / "build/fuzz")
#: How many sources are checked together.
BATCH = 8
PASSED = Path(os.environ.get("CORTEN_TIDY_CACHE", "~/.cache/corten/tidy")).expanduser()


@dataclass(frozen=True)
class Source:
    """A source and what its last build read, with paths below the root."""

    path: str
    build: Path
    #: What the compiler is given, but for the source and the output.
    flags: tuple[str, ...]
    headers: frozenset[str]


def output(*command: str) -> str:
    """What the command prints; nothing if it fails."""
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return result.stdout if result.returncode == 0 else ""


def below_root(path: Path) -> str | None:
    """The path from the root, if it leads to a file of ours or a generated one."""
    absolute = os.path.abspath(path)
    inside = absolute.startswith(f"{ROOT}/") and "/.venv/" not in absolute
    return os.path.relpath(absolute, ROOT) if inside else None


def headers_read(build: Path) -> dict[str, frozenset[str]]:
    """For each object, what Ninja noted down when it was built."""
    headers = {}
    for entry in output("ninja", "-C", str(build), "-t", "deps").split("\n\n"):
        first, *paths = entry.split("\n")
        ours = (below_root(build / path.strip()) for path in paths if path)
        headers[first.split(":")[0]] = frozenset(filter(None, ours))
    return headers


def built_sources() -> dict[str, Source]:
    """The sources of all builds, by path."""
    sources: dict[str, Source] = {}
    for build in BUILDS:
        database = build / "compile_commands.json"
        if not database.exists():
            continue
        headers = headers_read(build)
        for entry in json.loads(database.read_text()):
            path = below_root(Path(entry["directory"]) / entry["file"])
            if path is None or path.startswith("build/") or path in sources:
                continue
            arguments = shlex.split(entry["command"])
            output_at = arguments.index("-o")
            sources[path] = Source(
                path,
                build,
                tuple(arguments[1:output_at]),
                headers.get(arguments[output_at + 1], frozenset()) - {path},
            )
    return sources


def base_commit() -> str:
    """The commit to compare with; empty if history does not reach that far."""
    head = output("git", "rev-parse", "--verify", "HEAD")
    for branch in ("origin/main", "main"):
        base = output("git", "merge-base", "HEAD", branch)
        if base and base != head:
            return base.strip()
    return output("git", "rev-parse", "--verify", "HEAD~1").strip()


def touched_files() -> set[str]:
    """The C++ files that differ from the base, and the new ones."""
    patterns = ("--", "*.cpp", "*.h")
    new = output("git", "ls-files", "--others", "--exclude-standard", *patterns)
    changed = ""
    if base := base_commit():
        changed = output(
            "git", "diff", "--name-only", "--diff-filter=d", base, *patterns
        )
    return {*new.splitlines(), *changed.splitlines()}


def sources_of(path: str, sources: dict[str, Source]) -> Iterator[Source]:
    """The one source through which a file is checked, if any is built."""
    if path in sources:
        yield sources[path]
        return
    namesake = re.sub(r"^include/corten/", "lib/", path.removesuffix(".h")) + ".cpp"
    users = [source for source in sources.values() if path in source.headers]
    users.sort(key=lambda source: (source.path != namesake, source.path))
    yield from users[:1]


@functools.cache
def content(path: str) -> bytes:
    """A digest of the file; of nothing if it is gone since the build."""
    file = ROOT / path
    return hashlib.sha256(file.read_bytes() if file.is_file() else b"").digest()


def configurations(source: Source) -> list[str]:
    """Where clang-tidy looks for its configuration, the nearest first."""
    return [str(folder / ".clang-tidy") for folder in Path(source.path).parents]


def stamp(source: Source, version: str) -> Path:
    """The file that says that the source passed, by all that this depends on."""
    flags = " ".join(source.flags).replace(str(ROOT), ".")
    result = hashlib.sha256(f"{version}\n{flags}\n".encode())
    for path in sorted({source.path, *source.headers, *configurations(source)}):
        result.update(path.encode() + b"\0" + content(path))
    return PASSED / result.hexdigest()[:40]


def run_clang_tidy(
    source: Source, file: str, *options: str
) -> subprocess.CompletedProcess[str]:
    """Check a file as the source is compiled."""
    # As a system folder, so that what TableGen wrote is read but not looked at.
    generated = f"-isystem{source.build}/include"
    command = [CLANG_TIDY, "--quiet", *options, file, "--", *source.flags, generated]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def pass_together(batch: Sequence[Source]) -> bool:
    """Check sources as one that includes them."""
    source = batch[0]
    nearest = next(path for path in configurations(source) if (ROOT / path).exists())
    # Below the root, where the configuration that others inherit from is found.
    with tempfile.TemporaryDirectory(dir=source.build) as folder:
        together = Path(folder) / "Together.cpp"
        lines = (f'#include "{ROOT / source.path}"\n' for source in batch)
        together.write_text("".join(lines))
        options = ("--checks=-bugprone-suspicious-include", f"--config-file={nearest}")
        return run_clang_tidy(source, str(together), *options).returncode == 0


def passes(source: Source) -> bool:
    """Check one source; say what is found."""
    result = run_clang_tidy(source, source.path)
    if result.returncode != 0:
        # The count of suppressed warnings in system headers is noise.
        errors = re.sub(r"^\d+ warnings? generated.*\n", "", result.stderr, flags=re.M)
        print(result.stdout, errors, sep="", end="", flush=True)
    return result.returncode == 0


def check(batch: Sequence[Source], version: str) -> bool:
    """Check sources, and note down which pass."""
    if len(batch) > 1 and pass_together(batch):
        passed = list(batch)
    else:
        passed = [source for source in batch if passes(source)]
    for source in passed:
        stamp(source, version).touch()
    return len(passed) == len(batch)


def batches(sources: Sequence[Source]) -> Iterator[Sequence[Source]]:
    """Sources of one folder that are compiled alike."""
    alike: dict[object, list[Source]] = defaultdict(list)
    for source in sorted(sources, key=lambda source: source.path):
        alike[Path(source.path).parent, source.build, source.flags].append(source)
    for group in alike.values():
        for begin in range(0, len(group), BATCH):
            yield group[begin : begin + BATCH]


def main() -> int:
    """Check; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--touched", action="store_true")
    sources = built_sources()
    chosen = set(sources.values())
    if parser.parse_args().touched:
        chosen = {
            source for path in touched_files() for source in sources_of(path, sources)
        }
    PASSED.mkdir(parents=True, exist_ok=True)
    version = output(CLANG_TIDY, "--version")
    pending = [source for source in chosen if not stamp(source, version).exists()]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        passed = list(pool.map(lambda b: check(b, version), batches(pending)))
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
