# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What Prometheus is told."""

from __future__ import annotations

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)

_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
_ROWS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Metrics:
    """The counters of one server."""

    def __init__(self) -> None:
        # A line for each counter that says when it was made: nobody asks.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        registry = self._registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self.requests = Counter(
            "corten_requests",
            "Requests that were answered",
            ["model", "code"],
            registry=registry,
        )
        self.seconds = Histogram(
            "corten_request_seconds",
            "From the head of a request to the end of its answer",
            ["model"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.in_flight = Gauge(
            "corten_requests_in_flight",
            "Requests that were accepted and not answered",
            registry=registry,
        )
        self.waiting = Gauge(
            "corten_queue_requests",
            "Requests that wait for a call",
            ["model"],
            registry=registry,
        )
        self.call_seconds = Histogram(
            "corten_call_seconds",
            "Calls of the engine",
            ["model"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.batch_requests = Histogram(
            "corten_batch_requests",
            "Requests that shared a call",
            ["model"],
            buckets=_ROWS,
            registry=registry,
        )
        self.cancelled_calls = Counter(
            "corten_cancelled_calls",
            "Calls that were ended because nobody waited for them any more",
            ["model"],
            registry=registry,
        )
        self.prompt_tokens = Counter(
            "corten_prompt_tokens", "Tokens of prompts", ["model"], registry=registry
        )
        self.generated_tokens = Counter(
            "corten_generated_tokens",
            "Tokens that were generated",
            ["model"],
            registry=registry,
        )

    def text(self) -> bytes:
        return generate_latest(self._registry)
