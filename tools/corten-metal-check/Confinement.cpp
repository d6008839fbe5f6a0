// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Confinement.h"

#include <cstddef>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <vector>

using namespace corten::check;

#if defined(__x86_64__)
static constexpr unsigned kArchitecture = AUDIT_ARCH_X86_64;
#else
static constexpr unsigned kArchitecture = AUDIT_ARCH_AARCH64;
#endif

/// What computing takes, with what a C library does for it.
static constexpr long kHarmless[] = {
    SYS_brk,          SYS_clock_gettime, SYS_close,
    SYS_exit,         SYS_exit_group,    SYS_fstat,
    SYS_futex,        SYS_getpid,        SYS_getrandom,
    SYS_gettid,       SYS_lseek,         SYS_madvise,
    SYS_mmap,         SYS_mprotect,      SYS_mremap,
    SYS_munmap,       SYS_newfstatat,    SYS_pread64,
    SYS_read,         SYS_rt_sigaction,  SYS_rt_sigprocmask,
    SYS_rt_sigreturn, SYS_setitimer,     SYS_sigaltstack,
    SYS_tgkill,       SYS_write,         SYS_writev,
};

bool corten::check::confine(Confinement to) {
  auto load = [](size_t offset) {
    return sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                static_cast<unsigned>(offset));
  };
  auto jump = [](unsigned test, unsigned value, unsigned char then,
                 unsigned char otherwise) {
    return sock_filter BPF_JUMP(BPF_JMP | test | BPF_K, value, then, otherwise);
  };
  constexpr sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  constexpr sock_filter trap = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
  std::vector<sock_filter> filter = {
      load(offsetof(seccomp_data, arch)),
      jump(BPF_JEQ, kArchitecture, 1, 0),
      trap,
      load(offsetof(seccomp_data, nr)),
  };
  for (long number : kHarmless) {
    filter.push_back(jump(BPF_JEQ, static_cast<unsigned>(number), 0, 1));
    filter.push_back(allow);
  }
  if (to == Confinement::MayRead) {
    constexpr size_t flags = offsetof(seccomp_data, args) + 2 * sizeof(long);
    filter.push_back(jump(BPF_JEQ, SYS_prctl, 0, 1));
    filter.push_back(allow);
    filter.push_back(jump(BPF_JEQ, SYS_openat, 0, 3));
    filter.push_back(load(flags));
    filter.push_back(
        jump(BPF_JSET, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC, 1, 0));
    filter.push_back(allow);
  }
  filter.push_back(trap);
  sock_fprog program = {static_cast<unsigned short>(filter.size()),
                        filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
