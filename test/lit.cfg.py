# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import sys

import lit.formats

config.name = "Corten"
config.test_format = lit.formats.ShTest(execute_external=False)
config.test_source_root = os.path.dirname(__file__)
config.suffixes = [".mlir", ".json", ".test"]
config.excludes = ["Inputs"]
config.substitutions += [
    ("%{python}", sys.executable),
    ("%{source}", config.corten_source_dir),
    ("%{libraries}", config.corten_library_graph),
]

# Our tools first: LLVM's folder holds an opt for every dialect but ours.
config.environment["PATH"] = os.pathsep.join(
    [
        config.corten_tools_dir,
        config.llvm_tools_dir,
        config.environment.get("PATH", os.environ["PATH"]),
    ]
)
config.environment["FILECHECK_OPTS"] = "--enable-var-scope"
# LLVM's own objects are not instrumented; see unittests/CMakeLists.txt.
config.environment["ASAN_OPTIONS"] = "allow_user_poisoning=0"
