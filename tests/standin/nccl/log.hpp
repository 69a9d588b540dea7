// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
/// NCCL's log lines and its last error. Messages never hold the magic of an id.
#pragma once

#include <string>

#include "nccl_api.hpp"

namespace standin {

/// What ends an operation of this library; exports turn it into a return value or a state.
struct Failure {
  ncclResult_t result;
};

/// Thrown out of a wait when the communicator was aborted meanwhile.
struct Stopped {};

/// `host:pid:tid [device] NCCL INFO message` when NCCL_DEBUG is INFO or TRACE.
void info(std::string const& message);

/// The same as a WARN; it is also kept as the last error, whatever NCCL_DEBUG is.
void warn(std::string const& message);

/// warn(), then throws the failure.
[[noreturn]] void fail(ncclResult_t result, std::string const& message);

/// "NCCL version 2.28.9+cuda13.0", once in a process, when NCCL_DEBUG asks for it.
void say_version();

/// The text of the last WARN of this process; the pointer stays valid until the thread's next call.
char const* last_error();

/// The device that log lines of this thread show.
void log_device(int device);

/// printf into a string.
[[gnu::format(printf, 1, 2)]] std::string text(char const* format, ...);

/// This machine's name, up to the first dot.
std::string host_name();

/// NCCL's hash of the host: the name and the boot id, or NCCL_HOSTID alone.
unsigned long long host_hash();

/// FNV-1a, for hashes that only have to agree within a job.
unsigned long long hash(std::string const& bytes);

}  // namespace standin
