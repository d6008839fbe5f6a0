# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether coreai-core and corten-opt accept a module.

coreai-core is built with assertions: some malformed modules end its process,
and a few keep it busy for ever. It therefore runs in a process of its own, and
in forks of that, which report one verdict per module and are replaced when
they are gone. Run as a script, this module is that process.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
CORTEN_OPT = pathlib.Path(
    os.environ.get("CORTEN_OPT", ROOT / "build/dev/bin/corten-opt")
)

ACCEPTED = "accepted"
REJECTED = "rejected"
ENDED = "ended the process"

# Seconds after which a single module counts as ending the process.
PATIENCE = 5


def official(sources):
    """Verdict and message of coreai-core for each module."""
    run = subprocess.run(
        [sys.executable, __file__],
        input=json.dumps(sources),
        capture_output=True,
        text=True,
        check=True,
    )
    return [tuple(verdict) for verdict in json.loads(run.stdout)]


def ours(sources):
    """Verdict and message of corten-opt for each module."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(_judge_ours, sources))


def _judge_ours(source):
    run = subprocess.run(
        [CORTEN_OPT, "-o", os.devnull],
        check=False,
        input=source,
        capture_output=True,
        text=True,
    )
    if run.returncode not in (0, 1) or "Stack dump" in run.stderr:
        return ENDED, run.stderr
    messages = re.findall("error: (.*)", run.stderr)
    return (REJECTED if run.returncode else ACCEPTED), "; ".join(messages)


def _judge_official(source, context):
    from coreai._compiler import ir

    signal.alarm(PATIENCE)
    try:
        ir.Module.parse(source, context).operation.verify()
    except ir.MLIRError as error:
        return REJECTED, "; ".join(re.findall("error: (.*)", str(error)))
    finally:
        signal.alarm(0)
    return ACCEPTED, ""


def _judge_all(sources, context, pipe):
    # The stack dumps of failed assertions.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    for source in sources:
        print(json.dumps(_judge_official(source, context)), file=pipe, flush=True)


def main():
    from coreai.authoring import Context

    # Once, rather than in every fork. Threads would not be in the forks.
    context = Context()._mlir_context
    context.enable_multithreading(False)
    sources = json.load(sys.stdin)
    verdicts = []
    while len(verdicts) < len(sources):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            with os.fdopen(writer, "w") as pipe:
                _judge_all(sources[len(verdicts) :], context, pipe)
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            verdicts += [json.loads(line) for line in pipe]
        _, status = os.waitpid(child, 0)
        if len(verdicts) < len(sources):
            verdicts.append((ENDED, f"status {status}"))
    json.dump(verdicts, sys.stdout)


if __name__ == "__main__":
    main()
