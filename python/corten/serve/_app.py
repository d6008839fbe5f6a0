# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The routes of the Open Inference Protocol, version 2, and the application."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from importlib import metadata
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from corten.serve import _log
from corten.serve._batching import NotRun, Overloaded, Runner, why_not_together
from corten.serve._gateway import (
    CLIENT_LEFT,
    ClientLeft,
    Gateway,
    HTTPError,
    error_answer,
    json_answer,
)
from corten.serve._metrics import Metrics
from corten.serve._models import VERSION, Catalogue, Served
from corten.serve._openai import LanguageRoutes
from corten.serve._protocol import (
    LENGTH_HEADER,
    BadRequest,
    InferRequest,
    encode,
    json_elements,
    json_size,
    parse,
)
from corten.serve._requests import (
    SMALL_TENSORS,
    Deadline,
    in_thread,
    read_body,
    read_json,
    wait_for,
)
from corten.serve._settings import Settings

if TYPE_CHECKING:
    from corten.llm import LanguageModel


def _release() -> str:
    try:
        return metadata.version("corten")
    except metadata.PackageNotFoundError:
        return "not installed"


class Application:
    """The server of some models, for any server of ASGI."""

    def __init__(
        self,
        catalogue: Catalogue,
        settings: Settings,
        languages: Mapping[str, LanguageModel] | None = None,
    ) -> None:
        self._catalogue = catalogue
        self._settings = settings
        self._metrics = Metrics()
        self._languages = LanguageRoutes(languages or {}, settings, self._metrics)
        self._runners: dict[Served, Runner] = {}
        for served in catalogue.all():
            self._runners[served] = self._runner(served)
        self.gateway = Gateway(
            Starlette(
                routes=self._routes(),
                exception_handlers={
                    HTTPException: _starlette_error,
                    HTTPError: _http_error,
                    Exception: _other_error,
                },
            ),
            settings,
            self._metrics,
        )

    def _runner(self, served: Served) -> Runner:
        reason: str | None = "--max-batch is 1"
        if self._settings.max_batch > 1:
            reason = why_not_together(served)
        _log.info("model", name=served.name, batching=reason is None, reason=reason)
        return Runner(served, self._settings, self._metrics, reason is None)

    def _routes(self) -> list[Route]:
        prefixes = ("/v2/models/{name}", "/v2/models/{name}/versions/{version}")
        # They are tried in this order: what is asked for most comes first.
        routes = [
            Route(f"{prefix}/infer", self._infer, methods=["POST"])
            for prefix in prefixes
        ]
        routes += [
            Route("/metrics", self._show_metrics),
            Route("/v2", self._server),
            Route("/v2/health/live", self._live),
            Route("/v2/health/ready", self._ready),
        ]
        for prefix in prefixes:
            routes += [
                Route(prefix, self._model),
                Route(f"{prefix}/ready", self._model_ready),
            ]
        return [*routes, *self._languages.routes()]

    def close(self) -> None:
        self._languages.close()
        for runner in self._runners.values():
            runner.close()

    async def _show_metrics(self, request: Request) -> Response:
        return Response(self._metrics.text(), media_type="text/plain; version=0.0.4")

    async def _live(self, request: Request) -> Response:
        return json_answer({"live": True})

    async def _ready(self, request: Request) -> Response:
        self._check_ready()
        return json_answer({"ready": True})

    async def _server(self, request: Request) -> Response:
        extensions = ["binary_tensor_data"]
        return json_answer(
            {"name": "corten", "version": _release(), "extensions": extensions}
        )

    async def _model(self, request: Request) -> Response:
        return json_answer(self._asked_for(request).metadata())

    async def _model_ready(self, request: Request) -> Response:
        served = self._asked_for(request)
        self._check_ready()
        return json_answer({"name": served.name, "ready": True})

    async def _infer(self, request: Request) -> Response:
        deadline = Deadline(self._settings.timeout)
        served = self._asked_for(request)
        asked = await self._read(request, served, deadline)
        deadline.shorten(asked.timeout)
        try:
            future = self._runners[served].submit(asked.inputs)
            results = await wait_for(request, future, deadline)
        except Overloaded as error:
            raise HTTPError(429, str(error), {"Retry-After": "1"}) from None
        except MemoryError:
            raise HTTPError(503, "there is not enough memory for this call") from None
        except NotRun as error:
            raise HTTPError(503, str(error)) from None
        except (RuntimeError, ValueError, TypeError) as error:
            # The program refuses these numbers: an index too large, say.
            raise HTTPError(400, f"the call failed: {error}") from None
        write = partial(encode, served.name, VERSION, asked, served.outputs, results)
        if json_elements(asked, results) <= SMALL_TENSORS:
            content, headers = write()
        else:
            content, headers = await in_thread(request, deadline, write)
        return Response(content, headers=headers)

    async def _read(
        self, request: Request, served: Served, deadline: Deadline
    ) -> InferRequest:
        max_body, max_json = self._settings.max_body, self._settings.max_json_body
        body = await read_body(request, max_body, deadline)
        length = request.headers.get(LENGTH_HEADER)
        try:
            size = json_size(body, length)
            if size > max_json:
                text = f"the JSON has more than {max_json} bytes: send tensors as bytes"
                raise HTTPError(413, text)
            read = partial(parse, body, length, served.inputs, served.outputs, max_body)
            return await read_json(request, size, deadline, read)
        except BadRequest as error:
            raise HTTPError(400, str(error)) from None

    def _check_ready(self) -> None:
        if self.gateway.is_draining:
            raise HTTPError(503, "the server is shutting down")

    def _asked_for(self, request: Request) -> Served:
        try:
            served = self._catalogue.find(request.path_params["name"])
        except KeyError as error:
            raise HTTPError(404, error.args[0]) from error
        request.scope["corten.model"] = served.name
        version = request.path_params.get("version", VERSION)
        if version != VERSION:
            text = f"there is no version {version}; {VERSION} is there"
            raise HTTPError(404, text)
        return served


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPError)
    return error_answer(request.url.path, error)


async def _starlette_error(request: Request, error: Exception) -> Response:
    """No such path, or no such method there."""
    assert isinstance(error, HTTPException)
    own = HTTPError(error.status_code, error.detail, error.headers)
    return error_answer(request.url.path, own)


async def _other_error(request: Request, error: Exception) -> Response:
    """A client that left, or a fault of ours; Starlette raises it again."""
    if isinstance(error, ClientLeft):
        return Response(status_code=CLIENT_LEFT)
    _log.error("internal error", path=request.url.path)
    return error_answer(request.url.path, HTTPError(500, "internal error"))
