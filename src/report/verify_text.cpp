// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include <fmt/format.h>

#include <base/text.hpp>
#include <base/units.hpp>
#include <report/text.hpp>
#include <report/verify_text.hpp>

namespace berth::report {
namespace {

constexpr std::size_t label_width = 12;
constexpr std::size_t note_width = 36;
/// More culprits than this are counted, not named, in the last line.
constexpr std::size_t most_named = 3;

std::string who(Finding const& finding) {
  if (finding.rank < 0) return finding.host.empty() ? "" : finding.host;
  if (finding.host.empty()) return fmt::format("rank {}", finding.rank);
  return fmt::format("rank {}@{}", finding.rank, finding.host);
}

/// What the last line says of a kind of finding.
std::string_view verb(std::string const& kind) {
  if (kind == "wrong-data") return "delivers wrong data";
  if (kind == "missing") return "did not arrive";
  if (kind == "mismatch") return "does something else";
  if (kind == "config") return "is set up differently";
  if (kind == "dead") return "is dead";
  if (kind == "stopped") return "is stopped";
  if (kind == "silent") return "is silent";
  if (kind == "late") return "is late";
  if (kind == "slow") return "is slow";
  if (kind == "degraded") return "is degraded";
  if (kind == "unreachable") return "cannot be reached";
  return "is at fault";
}

std::string clause(Finding const& finding) {
  std::string const subject = who(finding);
  if (!subject.empty()) return fmt::format("{} {}", subject, verb(finding.kind));
  if (finding.kind == "wrong-data") return "wrong data from a rank that is not identifiable";
  return fmt::format("{}, no rank can be named", finding.kind);
}

std::string culprits(std::vector<Finding> const& findings) {
  std::vector<std::string> clauses;
  for (Finding const& finding : findings) {
    std::string text = clause(finding);
    if (std::find(clauses.begin(), clauses.end(), text) == clauses.end())
      clauses.push_back(std::move(text));
  }
  std::size_t const all = clauses.size();
  if (all > most_named) clauses.resize(most_named);
  std::string text = base::join(clauses, ", ");
  if (all > most_named) text += fmt::format(" and {} more", all - most_named);
  return text;
}

std::string drained(std::vector<Finding> const& findings) {
  std::vector<std::string> hosts;
  for (Finding const& finding : findings) {
    if (finding.drain && std::find(hosts.begin(), hosts.end(), finding.host) == hosts.end())
      hosts.push_back(finding.host);
  }
  return hosts.empty() ? "none" : base::join(hosts, ",");
}

std::string size_of_job(model::VerifyReport const& report) {
  return fmt::format("{} on {}", counted(report.ranks, "rank"), counted(report.hosts, "host"));
}

/// "60 s", "2.5 s".
std::string plain_seconds(std::chrono::milliseconds time) {
  return fmt::format("{:.10g} s", static_cast<double>(time.count()) / 1e3);
}

}  // namespace

std::string verify_header(model::VerifyReport const& report, std::string_view version,
                          std::chrono::milliseconds deadline) {
  return fmt::format("berth {}: {}, backend {}, deadline {}\n", version, size_of_job(report),
                     report.backend, plain_seconds(deadline));
}

std::string phase_line(PhaseTime const& phase) {
  std::string label = phase.name;
  std::replace(label.begin(), label.end(), '-', ' ');
  std::string note = fmt::format("{:<{}}", phase.note, note_width);
  if (phase.note.size() >= note_width) note = phase.note + "  ";
  return fmt::format("  {:<{}}{}{}\n", label, label_width, note,
                     base::format_seconds(phase.seconds));
}

std::string finding_lines(Finding const& finding) {
  std::string const subject = who(finding);
  std::string first = fmt::format("  {:<{}}", subject.empty() ? "?" : subject, label_width);
  if (subject.size() >= label_width) first = fmt::format("  {}  ", subject);
  return hanging(first, finding.detail);
}

std::string verify_verdict(model::VerifyReport const& report) {
  if (report.ok) {
    double const seconds =
        std::accumulate(report.phases.begin(), report.phases.end(), 0.0,
                        [](double sum, PhaseTime const& phase) { return sum + phase.seconds; });
    return fmt::format("good: {}, {}\n", size_of_job(report), base::format_seconds(seconds));
  }
  std::set<int> bad;
  for (Finding const& finding : report.findings)
    if (finding.rank >= 0) bad.insert(finding.rank);
  std::string text = fmt::format("bad: {}", culprits(report.findings));
  if (!bad.empty() && report.ranks > 0)
    text += fmt::format("; {} of {} well", report.ranks - static_cast<int>(bad.size()),
                        counted(report.ranks, "rank"));
  return fmt::format("{}; drain {}\n", text, drained(report.findings));
}

}  // namespace berth::report
