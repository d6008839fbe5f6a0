# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How fast text is generated: ``python -m benchmarks.llm``."""
