// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include <base/error.hpp>
#include <base/units.hpp>
#include <launcher/launcher.hpp>

namespace berth::launcher {
namespace {

std::optional<int> number(base::Environment const& environment, std::string_view name, int low) {
  auto const text = environment.raw(name);
  if (!text) return std::nullopt;
  auto const value = base::parse_integer(*text, low, std::numeric_limits<int>::max());
  if (!value) return std::nullopt;
  return static_cast<int>(*value);
}

/// Reads one launcher's pair of variables; empty when neither is set.
Step pair(base::Environment const& environment, std::string const& name, std::string const& size,
          std::string_view rank) {
  Step step;
  step.size = number(environment, size, 1);
  step.rank = number(environment, rank, 0);
  if (step.size) step.variable = size;
  if (step.size || step.rank) step.name = name;
  return step;
}

/// A Slurm step that srun made for ranks. The shells that sbatch and salloc give are steps of one
/// process too, whatever was allocated: these announce nothing.
Step slurm(base::Environment const& environment) {
  std::string id = environment.raw("SLURM_STEP_ID").value_or("");
  if (id.empty()) id = environment.raw("SLURM_STEPID").value_or("");
  constexpr std::string_view interactive_step = "4294967290";
  constexpr std::string_view batch_step = "4294967291";
  if (id == interactive_step || id == batch_step) return {};
  Step step = pair(environment, "Slurm", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID");
  // Without a step size SLURM_PROCID is the batch shell's 0.
  return step.size ? step : Step{};
}

/// PMIx alone: Slurm's own server says so in the namespace and then its step size holds. Under
/// another server SLURM_STEP_NUM_TASKS counts that server's daemons.
Step pmix(base::Environment const& environment) {
  Step step;
  step.rank = number(environment, "PMIX_RANK", 0);
  if (!step.rank) return step;
  step.name = "PMIx";
  if (environment.raw("PMIX_NAMESPACE").value_or("").rfind("slurm.", 0) == 0) {
    Step const announced = slurm(environment);
    step.name = "Slurm";
    step.size = announced.size;
    step.variable = announced.variable;
  }
  return step;
}

std::string advice(Step const& step) {
  if (step.name == "Slurm") {
    return "srun did not reach this MPI; try srun --mpi=pmix (srun --mpi=list shows the choices) "
           "or "
           "start with mpirun";
  }
  return fmt::format(
      "the program is linked with another MPI than the {} launcher; start it with the mpirun of "
      "the "
      "MPI it was built with",
      step.name);
}

}  // namespace

Step read(base::Environment const& environment) {
  Step step = pair(environment, "Open MPI", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK");
  if (step.name.empty()) step = pmix(environment);
  if (step.name.empty()) step = pair(environment, "MPICH", "PMI_SIZE", "PMI_RANK");
  if (step.name.empty()) step = slurm(environment);
  return step;
}

bool binding_is_asked(base::Environment const& environment) {
  // Open MPI 4 and 5 hand the ranks what their command line, file or environment said of binding;
  // their own default leaves no trace. Hydra says so itself.
  for (char const* const name :
       {"OMPI_MCA_hwloc_base_binding_policy", "OMPI_MCA_hwloc_base_cpu_set",
        "PRTE_MCA_hwloc_default_binding_policy", "PRTE_MCA_hwloc_default_cpu_list",
        "HYDRA_USER_PROVIDED_BINDING"}) {
    if (environment.raw(name)) return true;
  }
  // "slot:PE=4" gives every rank so many cores, which is a binding.
  for (char const* const name :
       {"OMPI_MCA_rmaps_base_mapping_policy", "PRTE_MCA_rmaps_default_mapping_policy"}) {
    std::string const policy = environment.raw(name).value_or("");
    if (policy.find("PE=") != std::string::npos || policy.find("pe=") != std::string::npos)
      return true;
  }
  // Slurm binds tasks to the CPUs that were asked for them.
  std::string const slurm = environment.raw("SLURM_CPU_BIND_TYPE").value_or("");
  return !slurm.empty() && slurm.rfind("none", 0) != 0;
}

void check_size(Step const& step, int mpi_size) {
  if (!step.size || *step.size <= mpi_size) return;
  base::fail(Errc::mismatch,
             fmt::format("{}={} but MPI sees {} rank{}: {}", step.variable, *step.size, mpi_size,
                         mpi_size == 1 ? "" : "s", advice(step)));
}

}  // namespace berth::launcher
