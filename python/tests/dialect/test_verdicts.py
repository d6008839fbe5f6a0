# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Our verifier against that of coreai-core, on mutated examples.

What coreai-core accepts or rejects, we must as well; where it ends the
process, we must report an error. `python test_verdicts.py COUNT` tries more
modules than the test does and prints every disagreement.
"""

import pathlib
import random
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import mutation
import verdicts

EXAMPLES = verdicts.ROOT / "test/Dialect/CoreAI/examples"
SEED = 20
COUNT = 400

# Modules that coreai-core accepts and we do not, by op and by what we say.
DELIBERATE = {
    # The axis does not exist; the first input is taken for the result.
    "coreai.concat": "dimension .* is out of range",
    # An axis does not exist; its extent is read from beyond a buffer.
    "coreai.transpose": "axis .* is out of range for a tensor of rank",
}


def get_modules(count, seed):
    """Names of ops with mutated modules about them."""
    choose = random.Random(seed)
    examples = []
    for path in sorted(EXAMPLES.glob("coreai.*.mlir")):
        source = path.read_text().split("// -----\n")[1]
        # The file is named for the op, and possibly for a variant of it.
        name = path.stem
        while f'"{name}"(' not in source:
            name = name.rpartition(".")[0]
        examples.append((name, source))
    modules = []
    while len(modules) < count:
        name, source = choose.choice(examples)
        module = mutation.mutate(source, name, choose)
        if module:
            modules.append((name, module))
    return modules


def is_deliberate(name, official, message):
    return (
        official == verdicts.ACCEPTED
        and name in DELIBERATE
        and re.search(DELIBERATE[name], message)
    )


def get_disagreements(count, seed):
    modules = get_modules(count, seed)
    sources = [source for _, source in modules]
    found = []
    for (name, source), official, our in zip(
        modules, verdicts.official(sources), verdicts.ours(sources), strict=True
    ):
        expected = official[0]
        if expected == verdicts.ENDED:
            expected = verdicts.REJECTED
        if our[0] != expected and not is_deliberate(name, official[0], our[1]):
            found.append(
                f"{name}\n  coreai-core: {' '.join(official)}\n"
                f"  corten-opt: {' '.join(our)}\n{source}"
            )
    return found


def test_mutated_examples_are_judged_alike():
    pytest.importorskip("coreai.authoring")
    found = get_disagreements(COUNT, SEED)
    assert not found, f"seed {SEED}\n" + "\n\n".join(found)


if __name__ == "__main__":
    for disagreement in get_disagreements(int(sys.argv[1]), SEED):
        print(disagreement, end="\n\n")
