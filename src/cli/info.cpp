// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gpu/runtime.hpp>
#include <nccl/library.hpp>

#include <base/error.hpp>
#include <berth/version.hpp>
#include <cli/verbs.hpp>
#include <json/json.hpp>
#include <kernel/reduce.hpp>
#include <mpi/comm.hpp>
#include <report/info_text.hpp>
#include <sys/host.hpp>

namespace berth::cli {

namespace {

std::string dotted(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string cuda(base::Environment const& environment) {
  try {
    auto const runtime = gpu::open(
        gpu::cuda_search(environment.cudart_lib(), environment.list({"CUDA_HOME", "CUDA_PATH"})));
    int const driver = runtime->driver_version();
    return fmt::format(
        "{} ({}), {}", dotted(runtime->version()), runtime->path(),
        driver == 0 ? std::string("no driver") : fmt::format("driver for {}", dotted(driver)));
  } catch (Error const& error) {
    return error.what();
  }
}

std::string nccl_library(base::Environment const& environment) {
  try {
    auto const library = nccl::open(nccl::library_search(
        environment.nccl_lib(), environment.list({"NCCL_HOME", "CUDA_HOME", "CUDA_PATH"})));
    nccl::Versions const versions = nccl::versions_of(*library);
    return fmt::format("{} ({}), headers {}", nccl::version_text(versions.version), versions.path,
                       nccl::version_text(versions.header));
  } catch (Error const& error) {
    return error.what();
  }
}

}  // namespace

int info(base::Environment const& environment, Output& output) {
  model::InfoReport report;
  report.version = BERTH_VERSION_TEXT;
  report.mpi = mpi::library_version();
  report.compiler = "GCC " __VERSION__;
  report.host = sys::host_identity().name;
  report.kernels = kernel::best().name;
  report.shared_memory = environment.shared_memory();
  report.backends = {"cpu", "mpi"};
  if (nccl::header_version() > 0) report.backends.emplace_back("nccl");
  report.cuda = cuda(environment);
  report.nccl = nccl_library(environment);
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
