// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <utility>

#include <nccl/abandon.hpp>

#include <ledger/bounded.hpp>

namespace berth::nccl {

namespace {

constexpr auto abort_deadline = std::chrono::seconds(3);

}  // namespace

void abandon(std::shared_ptr<Library const> library, ncclComm_t comm,
             base::Log const& log) noexcept {
  if (comm == nullptr) return;
  bool const is_done = ledger::run_bounded(
      [library = std::move(library), comm] { static_cast<void>(library->abort(comm)); },
      abort_deadline);
  if (!is_done) {
    log.line(base::Level::warn, "nccl: ncclCommAbort has not come back in 3 s; it is left alone");
  }
}

}  // namespace berth::nccl
