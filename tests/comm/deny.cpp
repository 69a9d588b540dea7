// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0

// deny RANK SYSCALL PROGRAM ARGS...: runs PROGRAM; on RANK the kernel refuses SYSCALL with EPERM,
// as a container's filter does. RANK -1: on every rank. Not SYSCALL: a limit, "as=MIB" for address
// space.
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <unistd.h>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

namespace {

bool refuse(long number) {
  auto const call = static_cast<std::uint32_t>(number);
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog const program = {sizeof code / sizeof code[0], code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, long> const calls = {
      {"memfd_create", SYS_memfd_create},   {"sched_setaffinity", SYS_sched_setaffinity},
      {"set_mempolicy", SYS_set_mempolicy}, {"mbind", SYS_mbind},
      {"pidfd_open", SYS_pidfd_open},       {"fallocate", SYS_fallocate},
  };
  if (argc < 4) return 98;
  char const* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (rank == nullptr) rank = std::getenv("PMI_RANK");
  std::string const what = argv[2];
  if (std::string(argv[1]) == "-1" || (rank != nullptr && std::string(rank) == argv[1])) {
    auto const call = calls.find(what);
    if (what.rfind("as=", 0) == 0) {
      rlim_t const bytes = std::strtoull(what.c_str() + 3, nullptr, 10) << 20;
      rlimit const limit = {bytes, bytes};
      if (setrlimit(RLIMIT_AS, &limit) != 0) return 98;
    } else if (call == calls.end()) {
      return 98;
    } else if (!refuse(call->second)) {
      std::fprintf(stderr, "deny: filters are forbidden here: %s\n", std::strerror(errno));
      return 77;
    }
  }
  execv(argv[3], argv + 3);
  return 98;
}
