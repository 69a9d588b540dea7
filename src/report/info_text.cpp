// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <fmt/format.h>

#include <base/text.hpp>
#include <report/info_text.hpp>
#include <report/text.hpp>

namespace berth::report {
namespace {

void add(std::string& text, std::string_view label, std::string const& value) {
  if (!value.empty()) text += hanging(fmt::format("  {:<15}", label), value);
}

}  // namespace

std::string info_text(model::InfoReport const& report) {
  std::string text = fmt::format("berth {}\n", report.version);
  add(text, "host", report.host);
  add(text, "MPI", report.mpi);
  add(text, "hwloc", report.hwloc);
  add(text, "CUDA", report.cuda);
  add(text, "NCCL", report.nccl);
  add(text, "compiler", report.compiler);
  add(text, "backends", base::join(report.backends, ", "));
  add(text, "kernels", report.kernels);
  add(text, "shared memory", report.shared_memory);
  std::vector<std::vector<std::string>> rows;
  for (model::InfoSetting const& setting : report.settings)
    rows.push_back({setting.name, setting.value.empty() ? "-" : setting.value, setting.origin});
  if (rows.empty()) return text;
  return text + "\n" + table({{"variable", false}, {"value", false}, {"origin", false}}, rows);
}

}  // namespace berth::report
