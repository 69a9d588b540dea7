// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <map>

#include <gtest/gtest.h>

#include <berth/error.hpp>
#include <launcher/launcher.hpp>

namespace {

using namespace berth;
using launcher::Step;
using Values = std::map<std::string, std::string>;

Step read(Values const& values) {
  return launcher::read(base::Environment(
      [&values](char const* name) -> char const* {
        auto const found = values.find(name);
        return found == values.end() ? nullptr : found->second.c_str();
      },
      {}));
}

/// The message with which a start with `mpi_size` ranks is refused; empty when it is not.
std::string refusal(Values const& values, int mpi_size) {
  try {
    launcher::check_size(read(values), mpi_size);
    return {};
  } catch (Error const& error) {
    EXPECT_EQ(error.code(), Errc::mismatch);
    return error.what();
  }
}

/// What sbatch's own shell has when 4 tasks were allocated.
Values batch_shell() {
  return {{"SLURM_JOB_ID", "7"},         {"SLURM_NTASKS", "4"}, {"SLURM_NPROCS", "4"},
          {"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"}, {"SLURM_LOCALID", "0"}};
}

TEST(LauncherRead, RecognisesNothingInAPlainShell) {
  Step const step = read({{"PATH", "/bin"}});
  EXPECT_EQ(step.name, "");
  EXPECT_EQ(step.size, std::nullopt);
  EXPECT_EQ(step.rank, std::nullopt);
  EXPECT_EQ(refusal({}, 1), "");
}

struct Row {
  std::string name;
  std::optional<int> size, rank;
  Values values;
};

TEST(LauncherRead, RecognisesEachLauncher) {
  std::vector<Row> const rows = {
      {"Open MPI",
       4,
       2,
       {{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "2"}, {"PMIX_RANK", "2"}}},
      {"MPICH", 4, 0, {{"PMI_SIZE", "4"}, {"PMI_RANK", "0"}}},
      {"Slurm", 4, 3, {{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "3"}}},
      {"PMIx", std::nullopt, 1, {{"PMIX_RANK", "1"}}},
      {"Slurm",
       4,
       1,
       {{"PMIX_RANK", "1"}, {"PMIX_NAMESPACE", "slurm.pmix.7.0"}, {"SLURM_STEP_NUM_TASKS", "4"}}},
      {"PMIx",
       std::nullopt,
       3,
       {{"PMIX_RANK", "3"}, {"PMIX_NAMESPACE", "prterun-n1-77@1"}, {"SLURM_STEP_NUM_TASKS", "2"}}},
  };
  for (Row const& row : rows) {
    Step const step = read(row.values);
    EXPECT_EQ(step.name, row.name);
    EXPECT_EQ(step.size, row.size) << row.name;
    EXPECT_EQ(step.rank, row.rank) << row.name;
    EXPECT_EQ(step.variable.empty(), !row.size) << row.name;
  }
}

TEST(LauncherRead, PrefersMpirunToTheBatchShellItRunsIn) {
  Values values = batch_shell();
  values["OMPI_COMM_WORLD_SIZE"] = "4";
  values["OMPI_COMM_WORLD_RANK"] = "3";
  Step const step = read(values);
  EXPECT_EQ(step.name, "Open MPI");
  EXPECT_EQ(step.rank, 3);
  EXPECT_EQ(refusal(values, 4), "");
  values = batch_shell();
  values["PMI_SIZE"] = "4";
  values["PMI_RANK"] = "3";
  EXPECT_EQ(read(values).rank, 3);
  EXPECT_EQ(refusal(values, 4), "");
}

TEST(LauncherRead, TakesUnreadableNumbersAsAbsent) {
  for (char const* text : {"", "-1", "four", "4x", " 4", "0x4", "99999999999", "4.0", "\xff"}) {
    Step const step = read({{"OMPI_COMM_WORLD_SIZE", text}, {"OMPI_COMM_WORLD_RANK", text}});
    EXPECT_EQ(step.name, "") << text;
    EXPECT_EQ(read({{"SLURM_STEP_NUM_TASKS", text}}).size, std::nullopt) << text;
  }
  EXPECT_EQ(read({{"PMI_SIZE", "0"}, {"PMI_RANK", "0"}}).size, std::nullopt);
}

TEST(LauncherCheckSize, RefusesALonelyStartAndSaysWhatToDo) {
  EXPECT_EQ(refusal({{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "0"}}, 1),
            "SLURM_STEP_NUM_TASKS=4 but MPI sees 1 rank: srun did not reach this MPI; try srun "
            "--mpi=pmix (srun --mpi=list shows the choices) or start with mpirun");
  EXPECT_EQ(
      refusal({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "0"}}, 1),
      "OMPI_COMM_WORLD_SIZE=4 but MPI sees 1 rank: the program is linked with another MPI than "
      "the Open MPI launcher; start it with the mpirun of the MPI it was built with");
  EXPECT_EQ(
      refusal({{"PMI_SIZE", "4"}, {"PMI_RANK", "0"}}, 2).find("PMI_SIZE=4 but MPI sees 2 ranks: "),
      0U);
}

TEST(LauncherCheckSize, AcceptsWhatAgrees) {
  EXPECT_EQ(refusal({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "0"}}, 4), "");
  EXPECT_EQ(refusal({{"OMPI_COMM_WORLD_SIZE", "1"}, {"OMPI_COMM_WORLD_RANK", "0"}}, 1), "");
  EXPECT_EQ(refusal({{"PMI_SIZE", "2"}, {"PMI_RANK", "0"}}, 4), "");
}

TEST(LauncherCheckSize, NeverRefusesAShellOfAnAllocation) {
  EXPECT_EQ(refusal(batch_shell(), 1), "");
  EXPECT_EQ(refusal({{"SLURM_NTASKS", "4"}, {"SLURM_JOB_NUM_NODES", "4"}}, 1), "");
  for (char const* id : {"4294967290", "4294967291"}) {
    for (char const* name : {"SLURM_STEP_ID", "SLURM_STEPID"}) {
      EXPECT_EQ(refusal({{name, id}, {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "0"}}, 1), "");
    }
  }
}

TEST(LauncherSiblings, AreNoneWithoutALauncher) {
  // Whatever started this test, it has no rank of the launcher named here.
  Step step;
  step.name = "MPICH";
  EXPECT_TRUE(launcher::sibling_pids(step).empty());
}

}  // namespace
