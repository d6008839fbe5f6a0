# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The server of ``corten serve``, in replicas of Ray Serve's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from corten._text import path_text

if TYPE_CHECKING:
    from ray.serve import Application

    from corten._engine import Precision
    from corten._text import StrPath


def app(
    *paths: StrPath,
    num_cpus: int = 1,
    min_replicas: int = 1,
    max_replicas: int = 8,
    target_ongoing_requests: float = 8,
    max_queued_requests: int = 512,
    name: str = "corten",
    precision: Precision | None = None,
    options: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Application:
    """Models as an application of Ray Serve's: ``serve.run(corten.ray.app(path))``.

    The routes are those of ``corten serve``, for any number of ``paths``, each of
    them an asset, a bundle, or ``NAME=PATH``. A replica is a server with an engine of
    ``num_cpus`` threads; there are as many as keep the requests that each works
    on near ``target_ongoing_requests``. ``max_queued_requests`` wait for one at each
    proxy, and more are told 503. ``precision`` is that of ``corten.load``.

    ``settings`` are those of ``corten serve``, as ``max_batch`` or ``timeout``;
    ``options`` are Ray's for a deployment, and come before what is said here: of an
    ``autoscaling_config`` and of ``ray_actor_options``, what they do not say stays.
    With ``num_replicas`` nothing is scaled. Models are loaded by replicas, so each
    node has to see the files.
    """
    from ray import serve

    if not paths:
        msg = "app() needs a model"
        raise TypeError(msg)
    models = [path_text(path) for path in paths]

    def build() -> Any:
        """The server of a replica, made where the replica is."""
        from corten.serve import _log
        from corten.serve._app import Application
        from corten.serve._models import load
        from corten.serve._settings import Settings

        _log.set_up()
        loaded = load(models, num_cpus, precision)
        for model, note in loaded.notes:
            _log.warning(note, name=model)
        return Application(
            loaded.catalogue, Settings(**settings), loaded.languages
        ).gateway

    server: Any = serve.ingress(build)()
    chosen = _chosen(
        {
            "name": name,
            "ray_actor_options": {"num_cpus": num_cpus},
            "max_ongoing_requests": max(int(target_ongoing_requests * 4), 1),
            "max_queued_requests": max_queued_requests,
            "autoscaling_config": {
                "min_replicas": min_replicas,
                "max_replicas": max_replicas,
                "target_ongoing_requests": target_ongoing_requests,
            },
        },
        options or {},
    )
    deployment: Any = serve.deployment(server, **chosen)
    bound: Application = deployment.bind()
    return bound


def _chosen(ours: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """What Ray is told: what a user says, and for the rest what we would."""
    chosen = {**ours, **given}
    for key in ("autoscaling_config", "ray_actor_options"):
        if isinstance(given.get(key), Mapping):
            chosen[key] = {**ours[key], **given[key]}
    # Ray takes one or the other.
    is_fixed = given.get("num_replicas") not in (None, "auto")
    if is_fixed and "autoscaling_config" not in given:
        del chosen["autoscaling_config"]
    return chosen
