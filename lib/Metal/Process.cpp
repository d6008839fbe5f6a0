// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Process.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

using namespace corten::metal;
using namespace llvm;

Expected<ScratchFolder> ScratchFolder::make(StringRef parent) {
  SmallString<128> prefix(parent);
  if (parent.empty())
    sys::path::system_temp_directory(/*ErasedOnReboot=*/true, prefix);
  sys::path::append(prefix, "corten-metal");
  SmallString<128> folder;
  if (std::error_code error = sys::fs::createUniqueDirectory(prefix, folder))
    return createStringError("cannot make a folder like " + prefix + ": " +
                             error.message());
  return ScratchFolder(folder);
}

ScratchFolder::ScratchFolder(ScratchFolder &&other) noexcept
    : folder(std::move(other.folder)) {
  other.folder.clear();
}

ScratchFolder::~ScratchFolder() {
  if (!folder.empty())
    sys::fs::remove_directories(folder);
}

std::string ScratchFolder::file(StringRef name) const {
  SmallString<128> path(folder);
  sys::path::append(path, name);
  return std::string(path);
}

static std::string contentsOf(StringRef path) {
  auto file = MemoryBuffer::getFile(path);
  return file ? (*file)->getBuffer().str() : std::string();
}

Expected<std::optional<Finished>>
corten::metal::runProgram(ArrayRef<std::string> command, unsigned seconds,
                          bool inheritsEnvironment) {
  Expected<ScratchFolder> scratch = ScratchFolder::make();
  if (!scratch)
    return scratch.takeError();
  std::string output = scratch->file("output");
  std::string errors = scratch->file("errors");
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(output),
                                          StringRef(errors)};
  SmallVector<StringRef, 64> arguments(command.begin(), command.end());
  std::optional<ArrayRef<StringRef>> environment;
  if (!inheritsEnvironment)
    environment.emplace();
  std::string message;
  bool failed = false;
  sys::ProcessInfo child =
      sys::ExecuteNoWait(command.front(), arguments, environment, redirects,
                         /*MemoryLimit=*/0, &message, &failed);
  if (failed || child.Pid == sys::ProcessInfo::InvalidPid)
    return createStringError(command.front() + " cannot be run: " + message);
  // Asked again and again: waiting with a limit would take SIGALRM from the
  // program that this is a part of.
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  auto pause = std::chrono::microseconds(200);
  while (true) {
    sys::ProcessInfo now = sys::Wait(child, 0, &message, nullptr,
                                     /*Polling=*/true);
    if (now.Pid == child.Pid) {
      child = now;
      break;
    }
    if (std::chrono::steady_clock::now() > end) {
      ::kill(child.Pid, SIGKILL);
      sys::Wait(child, std::nullopt, &message);
      return std::optional<Finished>();
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(20000));
  }
  return Finished{child.ReturnCode, contentsOf(output), contentsOf(errors)};
}
