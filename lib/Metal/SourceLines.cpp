// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Metal/Check.h"

#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/Object/ObjectFile.h"

using namespace corten::metal;
using namespace llvm;

Expected<std::vector<SourceLine>>
corten::metal::sourceLines(StringRef path, ArrayRef<uint64_t> addresses) {
  auto object = object::ObjectFile::createObjectFile(path);
  if (!object)
    return object.takeError();
  std::unique_ptr<DWARFContext> debug =
      DWARFContext::create(*object->getBinary());
  DILineInfoSpecifier names(DILineInfoSpecifier::FileLineInfoKind::RawValue,
                            DILineInfoSpecifier::FunctionNameKind::None);
  std::vector<SourceLine> lines;
  for (uint64_t address : addresses) {
    SourceLine &line = lines.emplace_back();
    std::optional<DILineInfo> info = debug->getLineInfoForAddress(
        {address, object::SectionedAddress::UndefSection}, names);
    if (info && info->FileName != DILineInfo::BadString)
      line = {info->FileName, info->Line, info->Column};
  }
  return lines;
}
