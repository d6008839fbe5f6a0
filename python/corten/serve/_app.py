# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The routes of the Open Inference Protocol, version 2."""

from __future__ import annotations

from importlib import metadata

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from corten.serve._models import VERSION, Catalogue, Served


def _release() -> str:
    try:
        return metadata.version("corten")
    except metadata.PackageNotFoundError:
        return "not installed"


def _asked_for(request: Request, catalogue: Catalogue) -> Served:
    try:
        served = catalogue.find(request.path_params["name"])
    except KeyError as error:
        raise HTTPException(404, error.args[0]) from error
    version = request.path_params.get("version", VERSION)
    if version != VERSION:
        raise HTTPException(404, f"there is no version {version}; {VERSION} is there")
    return served


async def _error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


def app(catalogue: Catalogue) -> Starlette:
    """The server of these models, for any server of ASGI."""

    async def health(request: Request) -> Response:
        return JSONResponse({})

    async def server(request: Request) -> Response:
        return JSONResponse({"name": "corten", "version": _release(), "extensions": []})

    async def model(request: Request) -> Response:
        return JSONResponse(_asked_for(request, catalogue).metadata())

    async def ready(request: Request) -> Response:
        _asked_for(request, catalogue)
        return JSONResponse({})

    routes = [
        Route("/v2", server),
        Route("/v2/health/live", health),
        Route("/v2/health/ready", health),
    ]
    for prefix in ("/v2/models/{name}", "/v2/models/{name}/versions/{version}"):
        routes += [Route(prefix, model), Route(f"{prefix}/ready", ready)]
    return Starlette(routes=routes, exception_handlers={HTTPException: _error})
