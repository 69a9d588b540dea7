// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The one table of everything that can go wrong: X(name, value, exit_code, text).
/// It makes the enumerators, `errc_text`, `exit_code` and docs/errors.md. Values are ABI: append
/// only. Exit codes: 1 findings, 2 usage or bad input, 3 this machine cannot, 4 no verdict in time,
/// 5 internal.
#define BERTH_ERRC_TABLE(X)                                                                   \
  X(ok, 0, 0, "no error")                                                                     \
  X(invalid_argument, 1, 2, "a call or command line has an argument that cannot be used")     \
  X(bad_configuration, 2, 2, "a BERTH_* variable or option has a value that is not accepted") \
  X(bad_input, 3, 2, "an input file cannot be used")                                          \
  X(mismatch, 4, 2, "the ranks do not agree on what they do")                                 \
  X(no_driver, 5, 3, "there is a device but no driver or backend for it")                     \
  X(no_device, 6, 3, "there are not enough devices")                                          \
  X(unsupported, 7, 3, "this build or this machine cannot do that")                           \
  X(system, 8, 3, "the operating system refused something")                                   \
  X(out_of_memory, 9, 3, "there is not enough memory")                                        \
  X(lost, 10, 1, "a rank is dead, stopped or does not take part")                             \
  X(timeout, 11, 4, "no verdict was reached in time")                                         \
  X(wrong_data, 12, 1, "data arrived changed")                                                \
  X(aborted, 13, 1, "a rank has aborted the communicator")                                    \
  X(mpi, 14, 5, "MPI reported an error")                                                      \
  X(internal, 15, 5, "an error inside Berth")                                                 \
  X(device, 16, 1, "a device or its driver reported an error")                                \
  X(nccl, 17, 1, "NCCL reported an error")

namespace berth {

/// What went wrong. Switch on it; the text for people is in Error::what().
enum class Errc : int {
#define BERTH_X(name, value, exit, text) name = value,
  BERTH_ERRC_TABLE(BERTH_X)
#undef BERTH_X
};

}  // namespace berth
