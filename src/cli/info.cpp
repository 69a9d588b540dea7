// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <berth/version.hpp>
#include <cli/verbs.hpp>
#include <json/json.hpp>
#include <kernel/reduce.hpp>
#include <mpi/comm.hpp>
#include <report/info_text.hpp>
#include <sys/host.hpp>

namespace berth::cli {

int info(base::Environment const& environment, Output& output) {
  model::InfoReport report;
  report.version = BERTH_VERSION_TEXT;
  report.mpi = mpi::library_version();
  report.compiler = "GCC " __VERSION__;
  report.host = sys::host_identity().name;
  report.kernels = kernel::best().name;
  report.shared_memory = environment.shared_memory();
  report.backends = {"cpu", "mpi"};
  for (base::Setting const& setting : environment.settings()) {
    bool const is_set = setting.origin == base::Origin::environment;
    report.settings.push_back({setting.name, setting.value, is_set ? "environment" : "default"});
  }
  output.text(report::info_text(report));
  output.document(json::info_document(report));
  output.check();
  return 0;
}

}  // namespace berth::cli
