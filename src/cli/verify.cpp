// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include <fmt/format.h>

#include <berth/version.hpp>
#include <cli/verbs.hpp>
#include <json/json.hpp>
#include <report/text.hpp>
#include <report/verify_text.hpp>
#include <verify/verification.hpp>

namespace berth::cli {
namespace {

std::string note_of(verification::Outcome const& outcome) {
  if (!outcome.findings.empty()) return "data arrives changed";
  return fmt::format("{} x {}, every collective, all right", report::counted(outcome.sizes, "size"),
                     report::counted(outcome.types, "type"));
}

}  // namespace

int verify(Job& job, VerifyOptions const& options, Output& output) {
  model::VerifyReport report = job.report();
  output.text(report::verify_header(report, BERTH_VERSION_TEXT, job.deadline()));
  for (PhaseTime const& phase : report.phases) output.text(report::phase_line(phase));

  auto const start = std::chrono::steady_clock::now();
  verification::Outcome const outcome = verification::check(job.impl(), options);
  double const seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.phases.push_back({"data", seconds, note_of(outcome)});
  report.findings = outcome.findings;
  report.ok = report.findings.empty();

  output.text(report::phase_line(report.phases.back()));
  for (Finding const& finding : report.findings) output.text(report::finding_lines(finding));
  job.publish([&] {
    output.document(json::verify_document(report));
    output.text(report::verify_verdict(report));
    output.check();
  });
  job.close();
  return report.ok ? 0 : 1;
}

}  // namespace berth::cli
