// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All `coreai` ops. Whoever uses one family includes that family's header.

#ifndef CORTEN_DIALECT_COREAI_IR_COREAIOPS_H
#define CORTEN_DIALECT_COREAI_IR_COREAIOPS_H

#include "corten/Dialect/CoreAI/IR/ControlFlowOps.h"
#include "corten/Dialect/CoreAI/IR/ConvolutionOps.h"
#include "corten/Dialect/CoreAI/IR/ElementwiseOps.h"
#include "corten/Dialect/CoreAI/IR/ImageOps.h"
#include "corten/Dialect/CoreAI/IR/IndexingOps.h"
#include "corten/Dialect/CoreAI/IR/KernelOps.h"
#include "corten/Dialect/CoreAI/IR/LinearAlgebraOps.h"
#include "corten/Dialect/CoreAI/IR/QuantizationOps.h"
#include "corten/Dialect/CoreAI/IR/ReductionOps.h"
#include "corten/Dialect/CoreAI/IR/ShapeOps.h"
#include "corten/Dialect/CoreAI/IR/StateOps.h"

#endif // CORTEN_DIALECT_COREAI_IR_COREAIOPS_H
