// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <base/env.hpp>

/// What the launcher said in the environment. MPI itself is the truth about ranks; this only finds
/// contradictions and better texts.
namespace berth::launcher {

/// What one launcher announced to this process.
struct Step {
  std::string name;         ///< "Open MPI", "MPICH", "Slurm", "PMIx"; empty: none recognised
  std::optional<int> size;  ///< ranks the *step* announces (not the allocation)
  std::optional<int> rank;  ///< this process's rank in the step
  std::string variable;     ///< the variable that gave `size`; empty: none
};

/// Reads OMPI_COMM_WORLD_*, PMI_*, PMIX_RANK, SLURM_STEP_NUM_TASKS by the precedence of the design:
/// Open MPI / PMIx before Slurm. Unreadable numbers count as absent.
Step read(base::Environment const& environment);

/// True when somebody asked the launcher to bind as it did (mpirun --bind-to, --cpu-set, hydra's
/// -bind-to, srun --cpu-bind and -c); false: it did so by itself, or did not.
bool binding_is_asked(base::Environment const& environment);

/// Refuses a lonely start: the step announces more ranks than MPI has.
/// @throws Error mismatch naming the variable, both numbers and what to do
void check_size(Step const& step, int mpi_size);

/// "n[1-3,7],login" -> n1 n2 n3 n7 login. At most 100,000 names. @throws Error bad_input
std::vector<std::string> expand_hosts(std::string const& list);

/// Process ids of the ranks that the same launcher started on this host, by their own environment;
/// index = rank in MPI_COMM_WORLD, 0 where unknown. For naming ranks that never arrived.
std::vector<int> sibling_pids(Step const& step);

}  // namespace berth::launcher
