// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Process.h"

#include "corten/Metal/Check.h"
#include "corten/Metal/Compile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

#include <mutex>

#include <dlfcn.h>

using namespace corten::metal;
using namespace llvm;

/// Older ones lack C++23's subscripts with several arguments.
static constexpr unsigned kOldest = 17;
/// That is looked for under its number.
static constexpr unsigned kNewest = 22;
static constexpr unsigned kSeconds = 120;

static constexpr const char *kFlags[] = {
    "-std=c++23",
    "-fdeclspec",
    "-nostdinc",
    "-fno-exceptions",
    "-fno-rtti",
    "-fsigned-char",
    "-fno-digraphs",
    "-w",
    // Metal's literals and 16-bit floats: single precision, rounded every time.
    "-Xclang",
    "-cl-single-precision-constant",
    "-Xclang",
    "-ffloat16-excess-precision=none",
    "-Xclang",
    "-fbfloat16-excess-precision=none",
    "-ffp-contract=off",
    // One call before every access; wider ones than 16 bytes would get none.
    "-O1",
    "-fno-vectorize",
    "-fno-slp-vectorize",
    "-fsanitize=thread",
    "-mllvm",
    "-tsan-instrument-func-entry-exit=0",
    "-mllvm",
    "-tsan-instrument-read-before-write=1",
    "-fsanitize=array-bounds",
    "-fsanitize-recover=array-bounds",
    // A loop that never ends is to be found, not removed.
    "-fno-finite-loops",
    // What is inlined, which is the headers alone, has the line of the call.
    "-fno-inline",
    "-gline-tables-only",
    "-gno-inline-line-tables",
    "-fno-caret-diagnostics",
    "-fno-color-diagnostics",
    "-ferror-limit=20",
    "-fPIC",
    "-fvisibility=hidden",
};
static constexpr const char *kLinkFlags[] = {"-shared", "-nostdlib",
                                             "-fno-sanitize-link-runtime"};

static std::string variable(const char *name) {
  return sys::Process::GetEnv(name).value_or("");
}

static std::string joined(StringRef folder, StringRef name) {
  SmallString<128> path(folder);
  sys::path::append(path, name);
  return std::string(path);
}

//===----------------------------------------------------------------------===//
// What comes with this library
//===----------------------------------------------------------------------===//

static bool hasTools(StringRef folder) {
  return sys::fs::can_execute(joined(folder, "corten-metal-check"));
}

/// The folder with the headers and the program that runs kernels.
static Expected<std::string> toolFolder() {
  if (std::string chosen = variable("CORTEN_METAL"); !chosen.empty()) {
    if (hasTools(chosen))
      return chosen;
    return createStringError("CORTEN_METAL=" + chosen +
                             " has no corten-metal-check");
  }
  Dl_info info;
  if (dladdr(reinterpret_cast<const void *>(&toolFolder), &info) &&
      info.dli_fname) {
    SmallString<256> here;
    if (!sys::fs::real_path(info.dli_fname, here)) {
      StringRef folder = sys::path::parent_path(sys::path::parent_path(here));
      // Beside the Python module, and beside programs.
      for (StringRef place : {"coreai_torch/kernels", "libexec/corten"})
        if (hasTools(joined(folder, place)))
          return joined(folder, place);
      // Beside a program that came with Python packages.
      std::error_code error;
      for (sys::fs::directory_iterator it(joined(folder, "lib"), error), end;
           it != end && !error; it.increment(error)) {
        std::string place =
            joined(it->path(), "site-packages/coreai_torch/kernels");
        if (hasTools(place))
          return place;
      }
    }
  }
  return createStringError("corten-metal-check is missing, which runs Metal "
                           "kernels: it comes with the Python package; "
                           "CORTEN_METAL names its folder");
}

Expected<std::string> corten::metal::kernelRunner() {
  Expected<std::string> folder = toolFolder();
  if (!folder)
    return folder.takeError();
  return joined(*folder, "corten-metal-check");
}

//===----------------------------------------------------------------------===//
// The compiler
//===----------------------------------------------------------------------===//

/// 0 if it is no compiler.
static unsigned versionOf(const std::string &clang) {
  Expected<std::optional<Finished>> done =
      runProgram({clang, "-dumpversion"}, kSeconds, true);
  unsigned version = 0;
  if (!done) {
    consumeError(done.takeError());
    return 0;
  }
  if (!*done || (*done)->status != 0 ||
      StringRef((*done)->output).split('.').first.getAsInteger(10, version))
    return 0;
  return version;
}

namespace {
/// Everything that a compiled kernel depends on besides its source.
struct Toolchain {
  /// Without files.
  std::vector<std::string> command;
  std::string headers;
  /// What these amount to.
  std::string state;
};
} // namespace

static std::string digest(ArrayRef<StringRef> texts) {
  SHA256 hash;
  for (StringRef text : texts) {
    hash.update(text);
    hash.update(StringRef("\0", 1));
  }
  return toHex(hash.final(), /*LowerCase=*/true);
}

static Expected<std::pair<std::string, unsigned>> findClang() {
  std::string chosen = variable("COREAI_TORCH_CLANG");
  std::vector<std::string> names;
  for (unsigned version = kNewest; version >= kOldest; --version)
    names.push_back("clang++-" + std::to_string(version));
  names.push_back("clang++");
  if (!chosen.empty())
    names = {chosen};
  for (const std::string &name : names) {
    ErrorOr<std::string> found = sys::findProgramByName(name);
    if (!found)
      continue;
    if (unsigned version = versionOf(*found); version >= kOldest)
      return std::pair(*found, version);
  }
  std::string where = chosen.empty()
                          ? "none was found"
                          : "COREAI_TORCH_CLANG=" + chosen + " is none";
  return createStringError("checking a kernel needs clang, version " +
                           Twine(kOldest) + " or later, and " + where +
                           ".\nInstall it: apt-get install clang-22\n"
                           "or name it: COREAI_TORCH_CLANG=/path/to/clang++");
}

static Expected<Toolchain> makeToolchain(const std::string &folder) {
  auto clang = findClang();
  if (!clang)
    return clang.takeError();
  Toolchain result;
  result.headers = joined(folder, "metal");
  result.command = {clang->first};
  result.command.insert(result.command.end(), std::begin(kFlags),
                        std::end(kFlags));
  // Conversions of half in hardware, where it has them.
  if (sys::getHostCPUFeatures().lookup("f16c"))
    result.command.push_back("-mf16c");
  result.command.push_back("-I" + result.headers);
  std::vector<std::string> files;
  std::error_code error;
  for (sys::fs::directory_iterator it(result.headers, error), end;
       it != end && !error; it.increment(error))
    if (StringRef(it->path()).ends_with(".h"))
      files.push_back(it->path());
  if (files.empty())
    return createStringError(result.headers +
                             ": the headers for Metal kernels are missing");
  llvm::sort(files);
  std::string texts = std::to_string(clang->second);
  for (const std::string &file : files)
    if (auto text = MemoryBuffer::getFile(file))
      texts += (*text)->getBuffer();
  result.state = digest({texts, join(result.command, " ")});
  return result;
}

/// Looked up once for each set of what it depends on.
static Expected<Toolchain> toolchain() {
  static std::mutex mutex;
  static std::string known;
  static Toolchain found;
  Expected<std::string> folder = toolFolder();
  if (!folder)
    return folder.takeError();
  std::string key =
      *folder + "\n" + variable("PATH") + "\n" + variable("COREAI_TORCH_CLANG");
  std::scoped_lock lock(mutex);
  if (known == key)
    return found;
  Expected<Toolchain> made = makeToolchain(*folder);
  if (!made)
    return made.takeError();
  known = key;
  found = *made;
  return made;
}

/// Where compiled kernels are kept; for this process only if nowhere else.
static Expected<std::string> cacheFolder() {
  std::string chosen = variable("COREAI_TORCH_CACHE");
  SmallString<128> folder(chosen);
  if (chosen.empty() && sys::path::cache_directory(folder))
    sys::path::append(folder, "coreai_torch", "kernels");
  std::error_code error = folder.empty()
                              ? std::make_error_code(std::errc::not_supported)
                              : sys::fs::create_directories(folder);
  if (!error)
    return std::string(folder);
  if (!chosen.empty())
    return createStringError(chosen + ": " + error.message());
  static Expected<ScratchFolder> *const scratch =
      new Expected<ScratchFolder>(ScratchFolder::make());
  if (!*scratch)
    return createStringError("there is no place for compiled kernels");
  return (*scratch)->path().str();
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

static Expected<Finished> runClang(ArrayRef<std::string> command) {
  Expected<std::optional<Finished>> done = runProgram(command, kSeconds, true);
  if (!done)
    return done.takeError();
  if (!*done)
    return createStringError("clang did not finish within " + Twine(kSeconds) +
                             " s");
  return std::move(**done);
}

/// The headers, parsed: most of what a kernel takes to compile.
static Expected<std::string> precompiled(const Toolchain &tools,
                                         StringRef folder) {
  std::string result =
      joined(folder, "metal-" + tools.state.substr(0, 16) + ".pch");
  if (sys::fs::exists(result))
    return result;
  Expected<ScratchFolder> scratch = ScratchFolder::make(folder);
  if (!scratch)
    return scratch.takeError();
  std::string made = scratch->file("metal.pch");
  std::vector<std::string> command = tools.command;
  command.insert(command.end(), {"-x", "c++-header",
                                 joined(tools.headers, "metal.h"), "-o", made});
  Expected<Finished> done = runClang(command);
  if (!done)
    return done.takeError();
  if (done->status != 0)
    return createStringError("clang cannot read the headers for kernels:\n" +
                             done->errors);
  if (std::error_code error = sys::fs::rename(made, result))
    return createStringError(result + ": " + error.message());
  return result;
}

static std::vector<CompileError> errorsIn(StringRef text, StringRef scratch) {
  std::vector<CompileError> errors;
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (StringRef line : lines) {
    CompileError error;
    auto [file, afterFile] = line.split(':');
    auto [number, afterNumber] = afterFile.split(':');
    auto [column, rest] = afterNumber.split(": ");
    if (number.getAsInteger(10, error.line) ||
        column.getAsInteger(10, error.column) ||
        (!rest.consume_front("error: ") &&
         !rest.consume_front("fatal error: ")))
      continue;
    file.consume_front(scratch);
    file.consume_front("/");
    error.file = file.str();
    error.message = rest.str();
    errors.push_back(std::move(error));
  }
  return errors;
}

/// Whether clang says that the parsed headers are older than the headers.
static bool isOutdated(StringRef text) {
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  return any_of(lines, [](StringRef line) {
    return line.starts_with("fatal error: ") && line.contains("precompiled");
  });
}

Expected<CompiledKernel> corten::metal::compileKernel(StringRef source) {
  Expected<Toolchain> tools = toolchain();
  if (!tools)
    return tools.takeError();
  Expected<std::string> folder = cacheFolder();
  if (!folder)
    return folder.takeError();
  std::string key = digest({tools->state, source});
  CompiledKernel result;
  result.path = joined(*folder, key.substr(0, 32) + ".so");
  if (sys::fs::exists(result.path))
    return result;
  Expected<ScratchFolder> scratch = ScratchFolder::make(*folder);
  if (!scratch)
    return scratch.takeError();
  std::string text = scratch->file("kernel.cpp");
  std::string made = scratch->file("kernel.so");
  std::error_code error;
  if (raw_fd_ostream out(text, error); !error)
    out << source;
  if (error)
    return createStringError(text + ": " + error.message());
  Finished done;
  for (bool isSecond : {false, true}) {
    Expected<std::string> header = precompiled(*tools, *folder);
    if (!header)
      return header.takeError();
    std::vector<std::string> command = tools->command;
    command.insert(command.end(), std::begin(kLinkFlags), std::end(kLinkFlags));
    command.insert(command.end(), {"-include-pch", *header, text, "-o", made});
    Expected<Finished> now = runClang(command);
    if (!now)
      return now.takeError();
    done = std::move(*now);
    // clang compares times: the same headers may have been written again.
    if (isSecond || !isOutdated(done.errors))
      break;
    sys::fs::remove(*header);
  }
  if (done.status == 0) {
    if (std::error_code failed = sys::fs::rename(made, result.path))
      return createStringError(result.path + ": " + failed.message());
    return result;
  }
  result.path.clear();
  result.errors = errorsIn(done.errors, scratch->path());
  if (result.errors.empty())
    return createStringError("clang failed on the kernel:\n" + done.errors);
  return result;
}

Expected<BuiltKernel> corten::metal::buildKernel(StringRef name,
                                                 StringRef source) {
  auto refuse = [&](const Twine &why) {
    std::string line = why.str();
    std::replace(line.begin(), line.end(), '\n', ' ');
    return createStringError("the Metal kernel '" + name +
                             "' cannot be run on a CPU: " + line);
  };
  Expected<Translation> translation = translateSource(name, source);
  if (!translation) {
    std::string message = toString(translation.takeError());
    StringRef why = message;
    why.consume_front("cannot be checked: ");
    return refuse(why);
  }
  Expected<CompiledKernel> compiled = compileKernel(translation->source);
  if (!compiled)
    return refuse(toString(compiled.takeError()));
  if (!compiled->errors.empty()) {
    const CompileError &error = compiled->errors.front();
    return refuse(error.file + ", line " + Twine(error.line) + ": " +
                  error.message);
  }
  return BuiltKernel{compiled->path, std::move(translation->buffers)};
}
