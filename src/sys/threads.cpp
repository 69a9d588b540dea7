// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <limits>
#include <string>
#include <system_error>

#include <unistd.h>

#include <base/text.hpp>
#include <base/units.hpp>
#include <sys/host.hpp>
#include <sys/syscall.h>
#include <sys/threads.hpp>

namespace berth::sys {
namespace {

/// Processor time of a thread in clock ticks, from the text of its stat file: fields 14 and 15 of
/// proc(5), counted behind the name, which may hold anything.
long long ticks_of(std::string const& stat) {
  constexpr std::size_t user_field = 11;
  std::size_t const name_end = stat.rfind(')');
  if (name_end == std::string::npos) return 0;
  auto const fields = base::split(base::trim(std::string_view(stat).substr(name_end + 1)), ' ');
  if (fields.size() <= user_field + 1) return 0;
  constexpr long long most = std::numeric_limits<long long>::max() / 2;
  return base::parse_integer(fields[user_field], 0, most).value_or(0) +
         base::parse_integer(fields[user_field + 1], 0, most).value_or(0);
}

}  // namespace

std::vector<int> busy_threads() {
  long long const busy_from = sysconf(_SC_CLK_TCK) / 20;
  auto const own = static_cast<int>(syscall(SYS_gettid));
  std::vector<int> found;
  std::error_code error;
  std::filesystem::directory_iterator entry("/proc/self/task", error);
  while (!error && entry != std::filesystem::directory_iterator()) {
    std::string const folder = entry->path().string();
    auto const id =
        base::parse_integer(entry->path().filename().string(), 1, std::numeric_limits<int>::max());
    if (id && *id != own && ticks_of(read_small_file(folder + "/stat")) >= busy_from)
      found.push_back(static_cast<int>(*id));
    entry.increment(error);
  }
  return found;
}

}  // namespace berth::sys
