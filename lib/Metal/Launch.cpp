// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Process.h"

#include "corten/Metal/Check.h"
#include "corten/Metal/Compile.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace corten::metal;
using namespace llvm;

/// Largest number of threads in a group.
static constexpr int64_t kGroupLimit = 1024;
/// For the end of a process that watches its time itself.
static constexpr unsigned kGrace = 30;

size_t KernelBuffer::bytes() const {
  size_t count = elementBytes;
  for (int64_t extent : shape)
    count *= size_t(extent);
  return count;
}

static Error writeFile(const std::string &path,
                       function_ref<void(raw_ostream &)> write) {
  std::error_code error;
  raw_fd_ostream out(path, error);
  if (error)
    return createStringError(path + ": " + error.message());
  write(out);
  out.close();
  if (out.has_error()) {
    error = out.error();
    out.clear_error();
    return createStringError(path + ": " + error.message());
  }
  return Error::success();
}

/// See tools/corten-metal-check/Main.cpp.
static void writeJob(const KernelLaunch &launch, const ScratchFolder &scratch,
                     raw_ostream &out) {
  out << "kernel " << launch.path << "\ndata " << scratch.file("data")
      << "\nresults " << scratch.file("results") << "\nseconds "
      << launch.seconds << "\norders 1\nconfined 1\n";
  auto sizes = [&](StringRef word, const int64_t (&of)[3]) {
    out << word << ' ' << of[0] << ' ' << of[1] << ' ' << of[2] << '\n';
  };
  sizes("grid", launch.grid);
  sizes("group", launch.group);
  for (const KernelBuffer &buffer : launch.buffers) {
    out << (buffer.isResult ? "result " : "input ") << buffer.name << ' '
        << buffer.elementBytes << ' ' << buffer.shape.size();
    for (int64_t extent : reverse(buffer.shape))
      out << ' ' << extent;
    out << '\n';
  }
}

/// The first thing that was found: the others follow from it as a rule.
static Error explain(const json::Array &findings, const std::string &library) {
  const json::Object *finding = findings.front().getAsObject();
  if (!finding)
    return createStringError("cannot be read");
  int64_t line = finding->getInteger("line").value_or(0);
  if (int64_t pc = finding->getInteger("pc").value_or(0)) {
    // The address after a call may be that of the next line.
    Expected<std::vector<SourceLine>> lines =
        sourceLines(library, {uint64_t(pc) - 1});
    if (!lines)
      consumeError(lines.takeError());
    else if (lines->front().file == kSourcePart)
      line = lines->front().line;
  }
  std::string text = finding->getString("kind").value_or("").str() + ": ";
  if (line != 0)
    text += "line " + std::to_string(line) + " of its source: ";
  text += finding->getString("message").value_or("").str();
  if (const json::Array *thread = finding->getArray("thread")) {
    text += ", by thread (";
    for (size_t i = 0; i != thread->size(); ++i)
      text += (i ? ", " : "") +
              std::to_string((*thread)[i].getAsInteger().value_or(0));
    text += ")";
  }
  return createStringError(text);
}

static Error readResults(const KernelLaunch &launch, const std::string &path) {
  auto file = MemoryBuffer::getFile(path);
  if (!file)
    return createStringError(path + ": " + file.getError().message());
  StringRef data = (*file)->getBuffer();
  for (const KernelBuffer &buffer : launch.buffers) {
    if (!buffer.isResult)
      continue;
    if (data.size() < buffer.bytes())
      return createStringError("the results are incomplete");
    memcpy(buffer.data, data.data(), buffer.bytes());
    data = data.drop_front(buffer.bytes());
  }
  return Error::success();
}

Error corten::metal::runKernel(const KernelLaunch &launch) {
  int64_t threads = launch.group[0] * launch.group[1] * launch.group[2];
  if (threads < 1 || threads > kGroupLimit)
    return createStringError("threadgroup size: a group has " + Twine(threads) +
                             " threads; Metal allows 1 to " +
                             Twine(kGroupLimit));
  for (int64_t extent : launch.grid)
    if (extent < 0 || extent > INT32_MAX)
      return createStringError("the grid has " + Twine(extent) +
                               " threads along an axis");
  Expected<std::string> runner = kernelRunner();
  if (!runner)
    return runner.takeError();
  Expected<ScratchFolder> scratch = ScratchFolder::make();
  if (!scratch)
    return scratch.takeError();
  std::string job = scratch->file("job");
  if (Error error = writeFile(
          job, [&](raw_ostream &out) { writeJob(launch, *scratch, out); }))
    return error;
  if (Error error = writeFile(scratch->file("data"), [&](raw_ostream &out) {
        for (const KernelBuffer &buffer : launch.buffers)
          if (!buffer.isResult)
            out.write(buffer.data, buffer.bytes());
      }))
    return error;
  Expected<std::optional<Finished>> done =
      runProgram({*runner, job}, launch.seconds + kGrace, false);
  if (!done)
    return done.takeError();
  if (!*done || (*done)->status != 0)
    return createStringError(
        *done ? "crash: the kernel ended the program that runs it. " +
                    (*done)->errors
              : "no end: the kernel ended not within " +
                    std::to_string(launch.seconds) + " s");
  Expected<json::Value> report = json::parse((*done)->output);
  if (!report)
    return report.takeError();
  const json::Object *fields = report->getAsObject();
  const json::Array *findings = fields ? fields->getArray("findings") : nullptr;
  if (!findings)
    return createStringError("corten-metal-check said nothing of use");
  if (!findings->empty())
    return explain(*findings, launch.path);
  return readResults(launch, scratch->file("results"));
}
