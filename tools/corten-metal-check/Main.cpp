// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// corten-metal-check JOB: runs a kernel that was compiled for the CPU and says
// what is wrong with it.
//
// A program of its own, because the kernel is the user's: it may crash, and it
// may never end. JOB is a text file:
//
//   kernel PATH              shared object that defines corten_kernel
//   data PATH                the inputs, one after the other
//   results PATH             where to write the results
//   grid X Y Z
//   group X Y Z
//   seconds N                when to give up
//   orders 1|2               how often to run it; 2 unless it is said
//   confined 1               rather fail than run it where the system does not
//                            confine the process
//   input|result NAME ELEMENT_BYTES RANK EXTENT...    innermost first
//
// What was found goes to standard output as JSON. The kernel runs twice, with
// the threads in ascending and in descending order; the results of all runs
// are written.

#include "Confinement.h"
#include "Scheduler.h"

#include <csignal>
#include <dlfcn.h>
#include <fstream>
#include <iostream>
#include <link.h>
#include <sstream>
#include <sys/resource.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

using namespace corten::check;

namespace {

struct Job {
  std::string kernel, data, results;
  unsigned grid[3] = {1, 1, 1};
  unsigned group[3] = {1, 1, 1};
  unsigned seconds = 10;
  unsigned orders = 2;
  bool isConfined = false;
  std::vector<Buffer> buffers;
};

} // namespace

[[noreturn]] static void fail(const std::string &message) {
  std::cerr << "corten-metal-check: " << message << "\n";
  std::exit(2);
}

static Buffer readBuffer(std::istream &line, bool isInput) {
  Buffer buffer;
  size_t rank = 0;
  line >> buffer.name >> buffer.elementBytes >> rank;
  buffer.kind = isInput ? Buffer::Kind::Input : Buffer::Kind::Result;
  buffer.bytes = buffer.elementBytes;
  for (size_t i = 0; i < rank; ++i) {
    int extent = 0;
    line >> extent;
    buffer.extents.push_back(extent);
    buffer.bytes *= extent;
  }
  buffer.granule = buffer.elementBytes;
  return buffer;
}

static Job readJob(const char *path) {
  std::ifstream file(path);
  if (!file)
    fail(std::string("cannot read ") + path);
  Job job;
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    std::string word;
    line >> word >> std::ws;
    if (word == "kernel")
      std::getline(line, job.kernel);
    else if (word == "data")
      std::getline(line, job.data);
    else if (word == "results")
      std::getline(line, job.results);
    else if (word == "grid")
      line >> job.grid[0] >> job.grid[1] >> job.grid[2];
    else if (word == "group")
      line >> job.group[0] >> job.group[1] >> job.group[2];
    else if (word == "seconds")
      line >> job.seconds;
    else if (word == "orders")
      line >> job.orders;
    else if (word == "confined")
      line >> job.isConfined;
    else if (word == "input" || word == "result")
      job.buffers.push_back(readBuffer(line, word == "input"));
    else
      fail("unknown word '" + word + "' in " + path);
    if (line.fail())
      fail("malformed line '" + text + "' in " + path);
  }
  return job;
}

//===----------------------------------------------------------------------===//
// Ends that a kernel did not choose
//===----------------------------------------------------------------------===//

static Findings findings;
static uintptr_t kernelBase = 0, kernelEnd = 0;
static unsigned timeLimit = 0;

static void printReport(bool finished) {
  std::printf("{\"finished\": %s, \"findings\": ", finished ? "true" : "false");
  findings.print(stdout, kernelBase);
  std::printf("}\n");
  std::fflush(stdout);
}

static uintptr_t programCounter(void *context) {
  auto &machine = static_cast<ucontext_t *>(context)->uc_mcontext;
#if defined(__x86_64__)
  return machine.gregs[REG_RIP];
#else
  return machine.pc;
#endif
}

/// The process cannot go on; what is known is still told.
static void onSignal(int number, siginfo_t *info, void *context) {
  // A second one, here, ends the process.
  std::signal(number, SIG_DFL);
  if (!scheduler || !scheduler->isRunning())
    _exit(4);
  uintptr_t pc = programCounter(context);
  bool inKernel = pc >= kernelBase && pc < kernelEnd;
  if (number == SIGALRM) {
    scheduler->report("no end", "",
                      "the kernel has not ended after " +
                          std::to_string(timeLimit) +
                          " s; this thread was running",
                      inKernel ? pc + 1 : scheduler->lastPc);
  } else if (number == SIGFPE) {
    scheduler->report("crash", "", "integer division by zero",
                      inKernel ? pc + 1 : 0);
  } else if (number == SIGSYS) {
    scheduler->report("crash", "", "the kernel asks the system for something",
                      inKernel ? pc + 1 : 0);
  } else if (scheduler->isStackOverflow(info->si_addr)) {
    scheduler->report("crash", "", "the stack of the thread overflows",
                      inKernel ? pc + 1 : 0);
  } else {
    char text[64];
    std::snprintf(text, sizeof(text), "invalid access to address %p",
                  info->si_addr);
    scheduler->report("crash", "",
                      number == SIGILL ? "illegal instruction" : text,
                      inKernel ? pc + 1 : 0);
  }
  printReport(/*finished=*/false);
  _exit(0);
}

static void watchSignals(unsigned seconds) {
  static char stack[1 << 16];
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof(stack);
  sigaltstack(&alternate, nullptr);
  struct sigaction action{};
  action.sa_sigaction = onSignal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGALRM})
    sigaction(number, &action, nullptr);
  timeLimit = seconds;
  itimerval timer{};
  timer.it_value.tv_sec = seconds;
  setitimer(ITIMER_REAL, &timer, nullptr);
  rlimit noCore{};
  setrlimit(RLIMIT_CORE, &noCore);
}

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

static KernelFn loadKernel(const std::string &path) {
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    fail(dlerror());
  void *symbol = dlsym(library, "corten_kernel");
  if (!symbol)
    fail(dlerror());
  struct Range {
    uintptr_t symbol, base = 0, end = 0;
  } range{reinterpret_cast<uintptr_t>(symbol)};
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *data) {
        auto &range = *static_cast<Range *>(data);
        uintptr_t end = 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto &header = info->dlpi_phdr[i];
          if (header.p_type == PT_LOAD)
            end = info->dlpi_addr + header.p_vaddr + header.p_memsz;
        }
        if (range.symbol < info->dlpi_addr || range.symbol >= end)
          return 0;
        range.base = info->dlpi_addr;
        range.end = end;
        return 1;
      },
      &range);
  kernelBase = range.base;
  kernelEnd = range.end;
  return reinterpret_cast<KernelFn>(symbol);
}

static void reportUnwritten(const Buffer &buffer) {
  size_t missing = 0, first = 0;
  for (size_t i = 0; i < buffer.cells.size(); ++i)
    if (!buffer.cells[i].isInitialized && missing++ == 0)
      first = i;
  if (missing == 0)
    return;
  Finding finding;
  finding.kind = "unwritten result";
  finding.buffer = buffer.name;
  finding.message = std::to_string(missing) + " of " +
                    std::to_string(buffer.cells.size()) + " elements of '" +
                    buffer.name + "' are never written, the first is " +
                    buffer.element(first * buffer.granule);
  findings.add(std::move(finding));
}

int main(int argc, char **argv) {
  if (argc != 2)
    fail("usage: corten-metal-check JOB");
  Job job = readJob(argv[1]);

  Memory memory;
  std::ifstream data(job.data, std::ios::binary);
  std::ofstream out(job.results, std::ios::binary);
  std::vector<CortenBuffer> arguments;
  std::vector<Buffer *> results;
  for (Buffer &described : job.buffers) {
    Buffer &buffer = memory.add(std::move(described));
    if (buffer.kind == Buffer::Kind::Input) {
      data.read(buffer.data, static_cast<std::streamsize>(buffer.bytes));
      if (!data)
        fail("not enough data for '" + buffer.name + "'");
    } else {
      results.push_back(&buffer);
    }
    arguments.push_back(
        {buffer.data, buffer.name.c_str(), buffer.extents.data()});
  }

  watchSignals(job.seconds);
  // From here on code may be somebody else's.
  bool isConfined = confine(Confinement::MayRead);
  if (!isConfined && job.isConfined)
    fail("the system does not let a process confine itself (seccomp)");
  KernelFn kernel = loadKernel(job.kernel);
  if (isConfined && !confine(Confinement::MayCompute))
    fail("the process cannot be confined further");
  Scheduler threads(kernel, job.grid, job.group, memory, arguments, findings);
  for (unsigned order = 0; order < job.orders; ++order) {
    bool descending = order == 1;
    if (descending)
      findings.stopCounting();
    threads.run(descending);
    // A thread that was stopped leaves gaps, which are no news.
    if (!descending && !threads.stoppedThreads())
      for (const Buffer *result : results)
        reportUnwritten(*result);
    for (const Buffer *result : results)
      out.write(result->data, static_cast<std::streamsize>(result->bytes));
  }
  out.close();
  if (!out)
    fail("cannot write " + job.results);
  printReport(/*finished=*/true);
  return 0;
}
