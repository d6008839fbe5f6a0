# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Fails if PROGRAM, without symbols, has more than LIMIT bytes.

execute_process(
  COMMAND "${STRIP}" -o "${PROGRAM}.stripped" "${PROGRAM}"
  COMMAND_ERROR_IS_FATAL ANY)
file(SIZE "${PROGRAM}.stripped" size)
message(STATUS "${size} bytes")
if(size GREATER LIMIT)
  message(FATAL_ERROR "${PROGRAM} has ${size} bytes, more than ${LIMIT}")
endif()
