# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the examples again as the installed coreai-core prints them.

A new example is a file with any one form of a module in it; an old one keeps
its meaning, because its generic form is what is read. For a new release of
coreai-core: run this, and let the difference say what changed.
"""

import pathlib

from coreai._compiler import ir
from coreai.authoring import Context


def main():
    for path in sorted(pathlib.Path(__file__).parent.glob("*.mlir")):
        source = path.read_text().split("// -----")[-1]
        module = ir.Module.parse(source, Context()._mlir_context)
        assert module.operation.verify()
        custom = module.operation.get_asm().strip()
        generic = module.operation.get_asm(print_generic_op_form=True).strip()
        path.write_text(f"{custom}\n\n// -----\n\n{generic}\n")


if __name__ == "__main__":
    main()
