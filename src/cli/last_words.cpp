// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <cli/last_words.hpp>
#include <json/json.hpp>
#include <report/verify_text.hpp>

namespace berth::cli {

void LastWords::know(model::VerifyReport report, std::vector<std::string> host_of_rank) {
  owner_ = std::make_unique<Known const>(Known{std::move(report), std::move(host_of_rank)});
  known_.store(owner_.get(), std::memory_order_release);
}

void LastWords::say(ledger::Verdict const& verdict) noexcept {
  Known const* const known = known_.load(std::memory_order_acquire);
  try {
    // Whoever noticed is the one who speaks: rank 0 may be the one that is lost.
    output_.set_speaks(true);
    model::VerifyReport report = known == nullptr ? model::VerifyReport{} : known->report;
    Finding finding{verdict.kind, verdict.rank, "", -1, verdict.text, false};
    auto const index = static_cast<std::size_t>(verdict.rank);
    if (known != nullptr && verdict.rank >= 0 && index < known->host_of_rank.size())
      finding.host = known->host_of_rank[index];
    report.ok = false;
    report.findings = {finding};
    output_.text(report::verify_verdict(report));
    if (!output_.wants_document()) return;
    output_.document(verb_ == Verb::verify ? json::verify_document(report)
                                           : json::error_document(verdict.code, verdict.rank,
                                                                  finding.host, verdict.text));
  } catch (std::exception const&) {
    // The line on stderr is out already; there is nobody left to tell.
    return;
  }
}

}  // namespace berth::cli
