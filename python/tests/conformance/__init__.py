# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The suites of others: what they may find different, and the page that says so.

``scripts/conformance`` runs them; ``python -m conformance`` writes the page.
"""
