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

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER "${CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE}")
endif()
