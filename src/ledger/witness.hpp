// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <ledger/verdict.hpp>

namespace berth::ledger {

/// Knows of the other ranks while there is no shared ledger yet. Asked by the watchdog thread.
class Witness {
 public:
  Witness() = default;
  Witness(Witness const&) = delete;
  Witness& operator=(Witness const&) = delete;
  virtual ~Witness() = default;
  /// Ranks at fault: those that have ended; once a deadline `expired` also those that are stopped
  /// or have not come. Empty: nobody can be named.
  virtual std::vector<Blame> look(bool expired) = 0;
  /// True when this rank is the one of its host that reports the last look's verdict.
  [[nodiscard]] virtual bool is_speaker() = 0;
  /// Gives the speaker a short time; true when it has reported or has ended since. Not for the
  /// speaker itself.
  virtual bool wait_for_speaker() = 0;
  /// This rank has reported or is about to throw what will be reported. Returns once its siblings
  /// have had time to notice.
  virtual void spoken() = 0;
};

}  // namespace berth::ledger
