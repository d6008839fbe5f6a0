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
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

CLANG_TIDY = "clang-tidy-22"
ROOT = Path(__file__).resolve().parent.parent
#: Sources that both have are checked as the first compiles them.
BUILDS = (ROOT / "build/dev", ROOT / "build/fuzz")
PASSED = Path(os.environ.get("CORTEN_TIDY_CACHE", "~/.cache/corten/tidy")).expanduser()


@dataclass(frozen=True)
class Source:
    """A source and what its last build read, with paths below the root."""

    path: str
    build: Path
    command: str
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
            target = arguments[arguments.index("-o") + 1]
            sources[path] = Source(
                path,
                build,
                entry["command"].replace(str(ROOT), "."),
                headers.get(target, frozenset()) - {path},
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


def digest(source: Source, version: str) -> str:
    """All that the verdict depends on, in 40 characters."""
    result = hashlib.sha256(f"{version}\n{source.command}\n".encode())
    folders = Path(source.path).parents
    configurations = {str(folder / ".clang-tidy") for folder in folders}
    for path in sorted({source.path, *source.headers, *configurations}):
        result.update(path.encode() + b"\0" + content(path))
    return result.hexdigest()[:40]


def check(source: Source, version: str) -> bool:
    """Run clang-tidy, unless the source has passed before; say what it found."""
    stamp = PASSED / digest(source, version)
    if stamp.exists():
        return True
    # As a system folder, so that what TableGen wrote is read but not looked at.
    generated = f"--extra-arg=-isystem{source.build}/include"
    result = subprocess.run(
        [CLANG_TIDY, "--quiet", "-p", source.build, generated, source.path],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if result.returncode != 0:
        # The count of suppressed warnings in system headers is noise.
        errors = re.sub(r"^\d+ warnings? generated.*\n", "", result.stderr, flags=re.M)
        print(result.stdout, errors, sep="", end="", flush=True)
        return False
    stamp.touch()
    return True


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
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        ordered = sorted(chosen, key=lambda source: source.path)
        passed = list(pool.map(lambda source: check(source, version), ordered))
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
