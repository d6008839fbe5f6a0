# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A cluster of three nodes on this machine."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import ray
import torch
from benchmarks.scale.lost_node import workers_of
from ray.cluster_utils import Cluster
from support.bundles import write_bundle
from support.command import ROOT

import corten.ray
from corten.batch import Predictor, TextPredictor, _job, _run
from corten.ray._batch import connected

ROWS = 2000
TEXTS = ["the cat", "a dog and a cat", "once"]
_STORE = 100 << 20


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


#: Where clients outside of the cluster are answered.
_CLIENT_PORT = _free_port()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    # Workers import what this process does.
    path = [str(ROOT / "python"), str(ROOT / "python" / "tests")]
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [*path, *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    cluster = Cluster(
        initialize_head=True,
        head_node_args={
            "num_cpus": 1,
            "object_store_memory": _STORE,
            "include_dashboard": False,
            "ray_client_server_port": _CLIENT_PORT,
        },
    )
    for _ in range(2):
        cluster.add_node(num_cpus=1, object_store_memory=_STORE)
    ray.init(address=cluster.address, log_to_driver=False)
    cluster.wait_for_nodes()
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield cluster
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    random = np.random.default_rng(2)
    images = random.standard_normal((ROWS, 3, 8, 8), dtype=np.float32)
    table = pa.table(
        {
            "id": np.arange(ROWS),
            "image": pa.FixedShapeTensorArray.from_numpy_ndarray(images),
            "weight": random.standard_normal(ROWS, dtype=np.float32),
        }
    )
    folder = tmp_path_factory.mktemp("data")
    for i in range(2):
        pq.write_table(table.slice(i * 1000, 1000), folder / f"part-{i}.parquet")
    return folder


@pytest.fixture(scope="module")
def expected(pictures: Path, data: Path) -> dict[str, Any]:
    """What one process computes."""
    table = Predictor(pictures, rows_per_call=64)(pq.read_table(data))
    return {
        "probs": table["probs"].combine_chunks().to_numpy_ndarray(),
        "score": table["score"].to_numpy(),
    }


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bundle(tmp_path_factory.mktemp("bundles") / "tiny").path


def check(rows: list[dict[str, Any]], expected: dict[str, Any]) -> None:
    """Every row once, in order, with the bits of one process."""
    assert [row["id"] for row in rows] == list(range(ROWS))
    probs = np.stack([row["probs"] for row in rows])
    np.testing.assert_array_equal(probs, expected["probs"])
    score = np.array([row["score"] for row in rows])
    np.testing.assert_array_equal(score, expected["score"])


def test_datasets(
    cluster: Cluster, pictures: Path, data: Path, expected: dict[str, Any]
) -> None:
    dataset = ray.data.read_parquet(str(data))
    found = corten.ray.predict(dataset, pictures, batch_size=64).materialize()
    check(found.take_all(), expected)
    # Arrow's own type, which all who read Arrow know.
    types = dict(zip(found.schema().names, found.schema().types, strict=True))
    assert types["probs"] == pa.fixed_shape_tensor(pa.float32(), (10,))
    assert types["score"] == pa.float32()
    assert types["id"] == pa.int64()


def test_prompts(cluster: Cluster, bundle: Path) -> None:
    """A bundle, of which each actor continues some."""
    dataset = ray.data.from_arrow(pa.table({"prompt": TEXTS}))
    found = corten.ray.predict(dataset, bundle, max_tokens=5, concurrency=1)
    want = TextPredictor(bundle, max_tokens=5)(pa.table({"prompt": TEXTS}))
    rows = found.take_all()
    assert [row["prompt"] for row in rows] == TEXTS
    assert [row["generated"] for row in rows] == want["generated"].to_pylist()


def test_texts_are_scored(cluster: Cluster, bundle: Path) -> None:
    dataset = ray.data.from_arrow(pa.table({"text": TEXTS}))
    found = corten.ray.predict(dataset, bundle, task="score", concurrency=1)
    want = TextPredictor(bundle, "score")(pa.table({"text": TEXTS}))
    rows = found.take_all()
    assert [row["text"] for row in rows] == TEXTS
    assert [row["perplexity"] for row in rows] == want["perplexity"].to_pylist()
    for row, logprobs in zip(rows, want["logprobs"].to_pylist(), strict=True):
        np.testing.assert_array_equal(row["logprobs"], np.float32(logprobs))


def test_batch_of_a_bundle(cluster: Cluster, bundle: Path, tmp_path: Path) -> None:
    """The command generates there what it generates here, and scores it."""
    data = tmp_path / "prompts.parquet"
    pq.write_table(pa.table({"prompt": TEXTS * 2, "text": TEXTS * 2}), data)
    for task in (["--max-tokens", "5"], ["--task", "score"]):
        found = []
        for place in ([], ["--address", cluster.address]):
            out = tmp_path / f"out-{len(place)}-{task[0]}"
            options = ["--input", data, "--output", out, "--rows-per-file", "2"]
            done = subprocess.run(
                [sys.executable, "-m", "corten.batch", bundle, *options, *task, *place],
                capture_output=True,
                text=True,
                timeout=180,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            assert done.stdout.startswith("6 rows in 3 files; ")
            files = sorted(out.glob("*.parquet"))
            found.append([file.read_bytes() for file in files])
            assert sum(pq.read_metadata(file).num_rows for file in files) == 6
        assert found[0] == found[1]


def test_map_batches(cluster: Cluster, pictures: Path, data: Path) -> None:
    """As others write it."""
    found = ray.data.from_arrow(pq.read_table(data).slice(0, 200)).map_batches(
        corten.ray.Predictor,
        fn_constructor_args=(str(pictures),),
        batch_size=64,
        concurrency=2,
    )
    rows = found.take_all()
    assert sorted(row["id"] for row in rows) == list(range(200))
    assert rows[0]["probs"].shape == (10,)
    assert set(rows[0]) == {"id", "image", "weight", "probs", "score"}


def test_an_actor_has_a_thread_for_each_of_its_processors(cluster: Cluster) -> None:
    @ray.remote(num_cpus=1)
    class Asked:
        def threads(self) -> int | None:
            return corten.ray.Predictor("none.aimodel").threads()

    asked: Any = Asked.remote()
    assert ray.get(asked.threads.remote()) == 1
    assert corten.ray.Predictor("none.aimodel").threads() is None
    assert corten.ray.Predictor("none.aimodel", threads=3).threads() == 3


def alive_nodes() -> set[str]:
    return {node["NodeID"] for node in ray.nodes() if node["Alive"]}


def wait_until(is_so: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.2)


def test_batch_with_a_node_that_dies(
    cluster: Cluster,
    pictures: Path,
    data: Path,
    expected: dict[str, Any],
    tmp_path: Path,
) -> None:
    options = _job.Options(batch_size=64, rows_per_file=25)
    files = sorted(data.iterdir())
    lost = cluster.add_node(num_cpus=2, object_store_memory=_STORE)
    cluster.wait_for_nodes()
    place = lost.node_id[:8]
    job = _job.Job(pictures, files, tmp_path / "there", options)
    seen: list[_job.Done] = []
    summary = _run.Summary()
    parts = job.parts
    job.begin()

    stopped: list[psutil.Process] = []
    done_since: list[_job.Done] = []

    def report(done: _job.Done) -> None:
        summary.add(done)
        seen.append(done)
        if not stopped and place in done.place:
            # What its workers are given from now on they will not finish.
            stopped.extend(workers_of(lost))
            for worker in stopped:
                worker.suspend()
        elif not stopped:
            # On a busy machine the others could be done before this node begins:
            # then nobody would miss it.
            time.sleep(0.3)
        elif place not in done.place:
            done_since.append(done)
            # More than were under way: it has been given something.
            if len(done_since) == 10:
                cluster.remove_node(lost, allow_graceful=False)
                for worker in stopped:
                    worker.kill()

    from corten.ray._batch import run_there

    run_there(job, parts, cluster.address, 1, report)
    assert stopped
    # Whoever comes next must not be sent there.
    wait_until(lambda: lost.node_id not in alive_nodes())
    assert summary.retries >= 1
    assert len(seen) == len(parts) == 80
    assert len(summary.places) >= 2
    files_there = sorted((tmp_path / "there").glob("*.parquet"))
    rows = [row for file in files_there for row in pq.read_table(file).to_pylist()]
    check(rows, expected)
    # The files are those of one process, byte for byte.
    here = _job.Job(pictures, files, tmp_path / "here", options)
    _run.run(here)
    for one, other in zip(here.parts, job.parts, strict=True):
        assert one.target.read_bytes() == other.target.read_bytes()


def test_batch_from_outside(
    cluster: Cluster, pictures: Path, data: Path, tmp_path: Path
) -> None:
    """The command, which is no part of the cluster."""
    out = tmp_path / "out"
    options = ["--input", data, "--output", out, "--rows-per-file", "500"]
    address = f"ray://127.0.0.1:{_CLIENT_PORT}"
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "corten.batch",
            pictures,
            *options,
            "--address",
            address,
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{ROWS} rows in 4 files; ")
    found = [pq.read_table(file)["id"] for file in sorted(out.glob("*.parquet"))]
    assert [row for ids in found for row in ids.to_pylist()] == list(range(ROWS))


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (["Initialization failure from server:\nTraceback\nit ended"], None),
        (["Initialization failure from server:\nTraceback\nit ended"] * 3, "it ended"),
        (["nobody is there"], "nobody is there"),
    ],
)
def test_connections_that_are_dropped(
    monkeypatch: pytest.MonkeyPatch, answers: list[str], message: str | None
) -> None:
    """Another attempt, where the cluster had taken the first."""
    left = answers.copy()

    def init(**_: Any) -> None:
        if left:
            raise ConnectionAbortedError(left.pop(0))

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", init)
    monkeypatch.setattr(ray, "shutdown", lambda: None)
    if message is None:
        with connected("ray://here"):
            assert not left
        return
    no_cluster = f"there is no cluster .*{message}"
    with pytest.raises(ValueError, match=no_cluster), connected("ray://here"):
        pass
    assert not left


def test_batch_says_what_is_wrong(
    cluster: Cluster, pictures: Path, data: Path, tmp_path: Path
) -> None:
    options = _job.Options(columns={"weight": "image"})
    job = _job.Job(pictures, sorted(data.iterdir()), tmp_path / "out", options)
    with pytest.raises(ValueError, match=r"part-\d.parquet, rows 0 to 256: column"):
        _run.run(job, address=cluster.address)


def test_the_sweep_of_the_night(
    cluster: Cluster,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """``make nightly`` verifies on the cluster that ``CORTEN_RAY`` names."""
    from sweep.__main__ import main

    with monkeypatch.context() as patch:
        patch.setenv("CORTEN_RAY", cluster.address)
        patch.setattr(
            sys, "argv", ["sweep", "operators", "test_activation: elu-float32*"]
        )
        # The session is connected already.
        patch.setattr(ray, "init", lambda **_: None)
        patch.setattr(ray, "shutdown", lambda: None)
        main()
    assert " operators verified: Counter({'right': " in capsys.readouterr().out


class Broken(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.linalg.eigvals(x)


def linear() -> tuple[torch.nn.Module, Any]:
    return torch.nn.Linear(4, 2).eval(), (torch.randn(3, 4),)


def broken() -> tuple[torch.nn.Module, Any]:
    return Broken(), (torch.randn(3, 3),)


def ended() -> tuple[torch.nn.Module, Any]:
    os._exit(1)


def test_verify(cluster: Cluster) -> None:
    catalogue = {"linear": linear, "broken": broken, "ended": ended}
    found = {each.name: each for each in corten.ray.verify(catalogue, max_retries=0)}
    assert set(found) == set(catalogue)
    assert found["linear"].passed
    assert "linalg_eig" in found["broken"].problems[0]
    assert found["ended"].has_ended
    assert found["ended"].problems[0].startswith("the process ended")
    assert found["linear"].node
    assert found["linear"].seconds > 0

    def check(name: str) -> list[str]:
        return [f"{name} is odd"] if len(name) % 2 else []

    names = {each.name: each for each in corten.ray.verify(["a", "bb"], check)}
    assert names["a"].problems == ("a is odd",)
    assert names["bb"].passed
    with pytest.raises(TypeError, match="needs a check"):
        corten.ray.verify(["a"])


def _ask(port: int, path: str, value: Any) -> Any:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/{path}",
        json.dumps(value).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def _infer(port: int, rows: pa.Table) -> Any:
    """What pictures become."""
    image = rows["image"].combine_chunks().to_numpy_ndarray()
    inputs = [
        {"name": name, "datatype": "FP32", "shape": array.shape, "data": array.tolist()}
        for name, array in (("image", image), ("weight", rows["weight"].to_numpy()))
    ]
    return _ask(port, "v2/models/pictures/infer", {"inputs": inputs})["outputs"]


def _answered(port: int) -> dict[str, str]:
    """How many pictures each replica has looked at, by when it was started."""
    found = {}
    for _ in range(40):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            lines = answer.read().decode().splitlines()
        values = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
        answers = values.get('corten_requests_total{code="200",model="pictures"}')
        if answers is not None:
            found[values["process_start_time_seconds"]] = answers
    return found


def _logged(event: str) -> int:
    """How many lines of it there are in the logs of this session, as objects."""
    import ray

    logs = Path(ray._private.worker._global_node.get_logs_dir_path())
    return sum(
        line.count(f'"event": "{event}"')
        for file in logs.rglob("*")
        if file.is_file()
        for line in file.read_text(errors="replace").splitlines()
    )


def test_app(cluster: Cluster, pictures: Path, data: Path, bundle: Path) -> None:
    """Each replica answers as ``corten serve`` does, for assets and for bundles."""
    from ray import serve

    rows = pq.read_table(data).slice(0, 3)
    expected = Predictor(pictures)(rows)["score"].to_pylist()
    port = _free_port()
    serve.start(http_options={"host": "127.0.0.1", "port": port})
    try:
        app = corten.ray.app(
            pictures, bundle, min_replicas=2, max_replicas=2, max_batch=4
        )
        serve.run(app)

        prompt = {"model": "tiny", "prompt": "once", "temperature": 0, "max_tokens": 5}
        (choice,) = _ask(port, "v1/completions", prompt)["choices"]
        want = TextPredictor(bundle, max_tokens=5)({"prompt": np.array(["once"])})
        assert choice["text"] == want["generated"][0]

        def score(_: int) -> Any:
            outputs = _infer(port, rows)
            (found,) = [each["data"] for each in outputs if each["name"] == "score"]
            return found

        with ThreadPoolExecutor(8) as threads:
            for found in threads.map(score, range(64)):
                np.testing.assert_allclose(found, expected, rtol=1e-5)
        assert len(_answered(port)) == 2
        assert _logged("language model") >= 2
        # Whoever waits, waits in a line that has an end.
        assert app._bound_deployment.max_queued_requests == 512
    finally:
        serve.shutdown()
    with pytest.raises(TypeError, match="needs a model"):
        corten.ray.app()


def test_replicas_follow_the_load(cluster: Cluster, pictures: Path, data: Path) -> None:
    """One, two while many ask at once, and one again."""
    from ray import serve

    def replicas() -> int:
        (deployment,) = serve.status().applications["default"].deployments.values()
        return deployment.replica_states.get("RUNNING", 0)

    rows = pq.read_table(data).slice(0, 3)
    scaling = {
        "upscale_delay_s": 0.2,
        "downscale_delay_s": 0.5,
        "metrics_interval_s": 0.2,
        "look_back_period_s": 1.0,
    }
    port = _free_port()
    is_over = threading.Event()

    def ask_again() -> None:
        while not is_over.is_set():
            _infer(port, rows)

    # The proxy of another node would share the port, before it knows the routes.
    serve.start(
        proxy_location="HeadOnly", http_options={"host": "127.0.0.1", "port": port}
    )
    try:
        options = {"autoscaling_config": scaling}
        app = corten.ray.app(
            pictures, max_replicas=2, target_ongoing_requests=1, options=options
        )
        serve.run(app)
        assert replicas() == 1
        with ThreadPoolExecutor(6) as threads:
            asking = [threads.submit(ask_again) for _ in range(6)]
            try:
                wait_until(lambda: replicas() == 2)
            finally:
                is_over.set()
        for each in asking:
            each.result()
        wait_until(lambda: replicas() == 1)
    finally:
        serve.shutdown()


def test_options_of_deployments(pictures: Path) -> None:
    """Those of Ray's come before ours, and leave what they do not say."""

    def made(**options: Any) -> Any:
        app = corten.ray.app(pictures, max_replicas=3, num_cpus=2, options=options)
        return app._bound_deployment

    actor = {"resources": {"gpu_free": 1}}
    found = made(autoscaling_config={"min_replicas": 2}, ray_actor_options=actor)
    scaling = found._deployment_config.autoscaling_config
    assert (scaling.min_replicas, scaling.max_replicas) == (2, 3)
    assert found.ray_actor_options == {"num_cpus": 2, **actor}
    assert made(max_ongoing_requests=7).max_ongoing_requests == 7
    fixed = made(num_replicas=4)
    assert fixed.num_replicas == 4
    assert fixed._deployment_config.autoscaling_config is None
