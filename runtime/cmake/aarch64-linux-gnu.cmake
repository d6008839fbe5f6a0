# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiles for AArch64 on another machine, with Debian's cross compiler or with
# its libraries and clang, and runs what comes out in qemu.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)

set(triple aarch64-linux-gnu)
if(CORTEN_CROSS_GCC)
  set(CMAKE_C_COMPILER ${triple}-gcc)
  set(CMAKE_CXX_COMPILER ${triple}-g++)
else()
  set(CMAKE_C_COMPILER clang-22)
  set(CMAKE_CXX_COMPILER clang++-22)
  set(CMAKE_C_COMPILER_TARGET ${triple})
  set(CMAKE_CXX_COMPILER_TARGET ${triple})
  set(CMAKE_EXE_LINKER_FLAGS_INIT -fuse-ld=lld-22)
  set(CMAKE_SHARED_LINKER_FLAGS_INIT -fuse-ld=lld-22)
endif()
set(CMAKE_AR ${triple}-ar)
set(CMAKE_NM ${triple}-nm)
set(CMAKE_RANLIB ${triple}-ranlib)
set(CMAKE_STRIP ${triple}-strip)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CORTEN_CROSS_GCC)

set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/${triple})
set(CMAKE_FIND_ROOT_PATH /usr/${triple})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
