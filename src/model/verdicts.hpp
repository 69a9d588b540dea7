// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <berth/communicator.hpp>
#include <berth/finding.hpp>

/// What `berth verify` and `berth info` found, as plain values. Filled by cli, written by json and
/// report.
namespace berth::model {

/// The result of a fabric check.
struct VerifyReport {
  bool ok = false;                ///< no finding
  int ranks = 0;                  ///< ranks of the communicator
  int hosts = 0;                  ///< hosts they run on
  std::string backend;            ///< "cpu", "mpi", "nccl"; empty: none was connected
  std::vector<PhaseTime> phases;  ///< in the order they ran
  std::vector<Finding> findings;  ///< most severe first
};

/// One environment variable and where its value came from.
struct InfoSetting {
  std::string name;    ///< "BERTH_BACKEND"
  std::string value;   ///< printable; empty: none
  std::string origin;  ///< "default", "environment", "command line"
};

/// What this build and this machine can do.
struct InfoReport {
  std::string version;                ///< of Berth, "0.1.0"
  std::string mpi;                    ///< one line naming the MPI library
  std::string hwloc;                  ///< version of hwloc; empty: not known
  std::string compiler;               ///< one line; empty: not known
  std::string host;                   ///< name of this host
  std::string kernels;                ///< instruction set of the reductions, "avx2"
  std::string shared_memory;          ///< "memfd", "shm_open", "none"
  std::vector<std::string> backends;  ///< "cpu", "mpi", "nccl"
  std::string cuda;                   ///< version, file and driver, or why there is none
  std::string nccl;                   ///< version and file, or why there is none
  std::vector<InfoSetting> settings;  ///< every variable of docs/env.md
};

}  // namespace berth::model
