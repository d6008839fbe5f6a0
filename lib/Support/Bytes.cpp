// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Support/Bytes.h"

#include "corten/Support/Limits.h"

#include "llvm/Support/Alignment.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"

#include <cstring>
#include <new>
#include <system_error>

using namespace corten;
namespace fs = llvm::sys::fs;

llvm::Expected<SharedBytes> corten::mapFile(llvm::StringRef path) {
  llvm::Expected<fs::file_t> file = fs::openNativeFileForRead(path);
  if (!file)
    return file.takeError();
  fs::file_status status;
  std::error_code code = fs::status(*file, status);
  if (!code && fs::is_directory(status))
    code = std::make_error_code(std::errc::is_a_directory);
  else if (!code && !fs::is_regular_file(status))
    code = std::make_error_code(std::errc::not_supported);
  std::shared_ptr<fs::mapped_file_region> region;
  // An empty file cannot be mapped.
  if (!code && status.getSize() > 0)
    region = std::make_shared<fs::mapped_file_region>(
        *file, fs::mapped_file_region::readonly, status.getSize(),
        /*offset=*/0, code);
  // Nothing was written that closing could lose.
  (void)fs::closeFile(*file);
  if (code)
    return llvm::errorCodeToError(code);
  if (!region)
    return SharedBytes();
  llvm::StringRef data(region->const_data(), region->size());
  return SharedBytes{data, std::move(region)};
}

std::shared_ptr<char> corten::allocateElements(size_t size) {
  // As torch has it: for the widest registers.
  constexpr std::align_val_t kAlignment{64};
  static_assert(static_cast<size_t>(kAlignment) % kWeightAlignment == 0);
  auto *memory =
      static_cast<char *>(::operator new(size, kAlignment, std::nothrow));
  if (!memory)
    return nullptr;
  return {memory, [](char *held) { ::operator delete(held, kAlignment); }};
}

SharedBytes corten::alignedWeight(SharedBytes bytes) {
  if (llvm::isAddrAligned(llvm::Align(kWeightAlignment), bytes.data.data()))
    return bytes;
  std::shared_ptr<char> copy = allocateElements(bytes.data.size());
  if (!copy)
    llvm::report_bad_alloc_error("no memory for the copy of a weight");
  std::memcpy(copy.get(), bytes.data.data(), bytes.data.size());
  llvm::StringRef data(copy.get(), bytes.data.size());
  return {data, std::move(copy)};
}
