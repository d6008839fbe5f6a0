# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The log: a JSON object in each line of standard error."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

_logger = logging.getLogger("corten.serve")


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created, UTC)
        line: dict[str, Any] = {
            "time": time.isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def set_up() -> None:
    """Send what is said here, and what uvicorn says, to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines())
    for name, level in (("corten.serve", "INFO"), ("uvicorn", "WARNING")):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level)
        logger.propagate = False


def info(event: str, **fields: Any) -> None:
    _logger.info(event, extra={"fields": fields})


def warning(event: str, **fields: Any) -> None:
    _logger.warning(event, extra={"fields": fields})


def error(event: str, **fields: Any) -> None:
    """With the traceback of what is being handled."""
    _logger.error(event, extra={"fields": fields}, exc_info=True)
