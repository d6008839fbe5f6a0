# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The vocabulary that compressed models are written in.

A compressor puts these modules into a model; their ops survive the export and
become Core AI ops, with the data packed. Importing the package registers them.
"""

from coreai_torch._compression import _ops

__all__ = ["_ops"]
