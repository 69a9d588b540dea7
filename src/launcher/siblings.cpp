// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <string_view>
#include <system_error>

#include <base/text.hpp>
#include <base/units.hpp>
#include <launcher/launcher.hpp>

namespace berth::launcher {
namespace {

constexpr std::size_t most_ranks = 100'000;
constexpr std::size_t most_processes = 100'000;
constexpr std::size_t longest_environment = std::size_t{1} << 18U;

/// Variables that tell one job of a launcher from another; equal, or absent, in all its ranks.
constexpr std::array<std::string_view, 5> job_variables = {
    "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "PMI_JOBID", "SLURM_JOB_ID", "SLURM_STEP_ID"};

constexpr std::size_t slurm_variables = 3;  ///< index of the first one of Slurm

std::string read_file(std::string const& path, std::size_t limit) {
  std::ifstream file(path, std::ios::binary);
  std::string text(limit, '\0');
  file.read(text.data(), static_cast<std::streamsize>(limit));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

/// What identifies a process's place in a job.
struct Member {
  std::optional<int> rank;
  std::array<std::string, job_variables.size()> job;
  int parent = 0;
  std::string program;  ///< the file it runs; empty when hidden
};

std::string_view rank_variable(Step const& step) {
  if (step.name == "Open MPI") return "OMPI_COMM_WORLD_RANK";
  if (step.name == "PMIx") return "PMIX_RANK";
  if (step.name == "MPICH") return "PMI_RANK";
  return "SLURM_PROCID";
}

/// Field 4 of /proc/<pid>/stat; the name before it may hold any byte, so it is counted from the
/// last parenthesis.
int parent_of(std::string const& folder) {
  constexpr std::size_t longest_stat = 4096;
  std::string const stat = read_file(folder + "/stat", longest_stat);
  std::size_t const name_end = stat.rfind(") ");
  if (name_end == std::string::npos) return 0;
  std::vector<std::string> const fields = base::split(stat.substr(name_end + 2), ' ');
  if (fields.size() < 2) return 0;
  return static_cast<int>(
      base::parse_integer(fields[1], 0, std::numeric_limits<int>::max()).value_or(0));
}

/// Reads what can be seen of the process in `folder`; no rank when it is none of a launcher's.
Member read_member(std::string const& folder, std::string_view rank_name) {
  Member member;
  std::string const environment = read_file(folder + "/environ", longest_environment);
  std::string_view rest = environment;
  while (!rest.empty()) {
    std::string_view const entry = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
    std::size_t const equals = entry.find('=');
    if (equals == std::string_view::npos) continue;
    std::string_view const name = entry.substr(0, equals);
    std::string_view const value = entry.substr(equals + 1);
    if (name == rank_name) {
      auto const rank = base::parse_integer(value, 0, static_cast<long long>(most_ranks) - 1);
      if (rank) member.rank = static_cast<int>(*rank);
    }
    for (std::size_t i = 0; i < job_variables.size(); ++i) {
      if (name == job_variables[i]) member.job[i] = value;
    }
  }
  if (!member.rank) return member;
  member.parent = parent_of(folder);
  std::error_code error;
  member.program = std::filesystem::read_symlink(folder + "/exe", error).string();
  return member;
}

/// Whether the launcher gave the job a name. Slurm's numbers name the job only where Slurm started
/// the ranks: two mpirun of one allocation share them.
bool has_job_name(Step const& step, Member const& member) {
  std::size_t const first = step.name == "Slurm" ? slurm_variables : 0;
  std::size_t const last = step.name == "Slurm" ? job_variables.size() : slurm_variables;
  for (std::size_t i = first; i < last; ++i) {
    if (!member.job[i].empty()) return true;
  }
  return false;
}

/// Whether `other` is of the same job: by the job's name, or, without one, by the same parent.
bool same_job(Step const& step, Member const& own, Member const& other) {
  if (own.job != other.job) return false;
  return has_job_name(step, own) || own.parent == other.parent;
}

std::vector<int> numbers_in_proc() {
  std::vector<int> pids;
  std::error_code error;
  std::filesystem::directory_iterator entry("/proc", error);
  while (!error && entry != std::filesystem::directory_iterator() && pids.size() < most_processes) {
    auto const pid =
        base::parse_integer(entry->path().filename().string(), 1, std::numeric_limits<int>::max());
    if (pid) pids.push_back(static_cast<int>(*pid));
    entry.increment(error);
  }
  std::sort(pids.begin(), pids.end());
  return pids;
}

std::vector<int> find_siblings(Step const& step) {
  std::string_view const rank_name = rank_variable(step);
  Member const own = read_member("/proc/self", rank_name);
  if (!own.rank) return {};
  // A wrapper script has the same environment as the rank it started: the process that runs our
  // program is meant, else the first one.
  std::map<int, std::pair<int, bool>> found;
  for (int const pid : numbers_in_proc()) {
    Member const other = read_member("/proc/" + std::to_string(pid), rank_name);
    if (!other.rank || !same_job(step, own, other)) continue;
    bool const same_program = !own.program.empty() && own.program == other.program;
    auto const [place, fresh] = found.try_emplace(*other.rank, pid, same_program);
    if (!fresh && same_program && !place->second.second) place->second = {pid, same_program};
  }
  std::size_t size = found.empty() ? 0 : static_cast<std::size_t>(found.rbegin()->first) + 1;
  if (step.size) size = std::min(static_cast<std::size_t>(*step.size), most_ranks);
  std::vector<int> pids(size, 0);
  for (auto const& [rank, process] : found) {
    if (static_cast<std::size_t>(rank) < size) pids[static_cast<std::size_t>(rank)] = process.first;
  }
  return pids;
}

}  // namespace

std::vector<int> sibling_pids(Step const& step) {
  try {
    return find_siblings(step);
  } catch (std::exception const&) {
    // It only betters a message; a failure here must not hide what the message is about.
    return {};
  }
}

}  // namespace berth::launcher
