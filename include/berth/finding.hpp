// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace berth {

/// Something that is not good: a value, not an exception.
struct Finding {
  /// One of: missing dead stopped silent late wrong-data slow degraded mismatch config unreachable
  std::string kind;
  int rank = -1;       ///< rank at fault; -1: not identifiable
  std::string host;    ///< its host; empty: not known
  int peer = -1;       ///< the other side of a pair; -1: none
  std::string detail;  ///< one line for people
  bool drain = false;  ///< the host should be taken out of service
};

}  // namespace berth
