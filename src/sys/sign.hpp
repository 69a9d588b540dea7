// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

/// A sign that other processes of the same user can see on this one, without a file and without
/// talking to it: an empty memfd, whose name /proc/<pid>/fd shows.
namespace berth::sys {

/// Shows the sign while it lives. Move-only.
class Sign {
 public:
  Sign() = default;  ///< shows nothing
  /// Never throws: where the kernel refuses, nothing is shown.
  explicit Sign(std::string const& name) noexcept;
  Sign(Sign&& other) noexcept;
  Sign& operator=(Sign&& other) noexcept;
  ~Sign();

 private:
  int descriptor_ = -1;
};

/// True when process `pid` shows the sign `name` now. False also when it cannot be looked at.
bool shows_sign(int pid, std::string_view name) noexcept;

}  // namespace berth::sys
