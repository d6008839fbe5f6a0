# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An HTTP server for models: what ``corten serve`` runs."""
