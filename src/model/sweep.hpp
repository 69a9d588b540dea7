// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <berth/types.hpp>

/// What a benchmark measured, as plain values. Filled by bench, printed by report.
namespace berth::model {

/// Times of one case in microseconds, over samples; each sample is the slowest rank's.
struct Times {
  double median = 0, min = 0, p95 = 0, p99 = 0, max = 0;
  double ci95_low = 0, ci95_high = 0;  ///< bootstrap interval of the median
};

/// One case, out of place or in place.
struct Measured {
  Times time_us;
  double algbw_gbps = 0;  ///< decimal GB/s
  double busbw_gbps = 0;
  std::size_t wrong = 0;  ///< elements that were wrong, over all ranks
};

/// The same case on the other backend, measured interleaved.
struct Compared {
  std::string backend;
  Measured measured;
  double ratio = 0;  ///< other median / our median, over paired rounds
  double ratio_ci95_low = 0, ratio_ci95_high = 0;
};

/// One line of the table.
struct Result {
  std::string collective;
  std::string backend;
  std::size_t size_bytes = 0;
  std::size_t count = 0;
  Type type = Type::float32;
  Op op = Op::sum;
  int root = -1;
  Measured out_of_place;
  Measured in_place;
  std::optional<Compared> compare;
};

/// A whole sweep and what it ran on.
struct Sweep {
  std::string version;
  int ranks = 0;
  int hosts = 0;
  int iterations = 0;
  bool checked = true;  ///< results were compared with coded data
  std::vector<Result> results;
  int graph = 0;               ///< launches of the graph that a batch was recorded in; 0: none
  bool is_registered = false;  ///< device buffers were registered
};

}  // namespace berth::model
