# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Warnings and sanitizers as one interface target that every target of ours
# links, so that no flag is set for a whole directory.

add_library(corten_compile_options INTERFACE)
target_compile_options(corten_compile_options INTERFACE
  -Wall -Wextra -Wno-unused-parameter -ffunction-sections -fdata-sections)
if(CORTEN_WERROR)
  target_compile_options(corten_compile_options INTERFACE -Werror)
endif()

if(CORTEN_SANITIZE)
  string(REPLACE ";" "," sanitizers "${CORTEN_SANITIZE}")
  target_compile_options(corten_compile_options INTERFACE
    -fsanitize=${sanitizers} -fno-omit-frame-pointer)
  target_link_options(corten_compile_options INTERFACE
    -fsanitize=${sanitizers})
endif()

# Clones of one machine share what is compiled: paths below the source tree are
# not a part of what ccache looks for.
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(ccache "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}"
    CCACHE_NOHASHDIR=true "${CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER ${ccache})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ccache})
endif()
