// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Oven/Oven.h"
#include "corten/Support/Text.h"
