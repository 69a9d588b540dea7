// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <gtest/gtest.h>

#include <kernel/reference.hpp>

namespace berth::test {

/// Elements of a column's copies: registers of every width, and a rest.
inline constexpr std::size_t column_copies = 151;

/// A column, one value per rank, spread over as many sources of equal elements.
template <class T>
struct Spread {
  explicit Spread(std::vector<T> const& column) {
    for (T const value : column) sources.emplace_back(column_copies, value);
    for (auto const& source : sources) pointers.push_back(source.data());
  }
  int count() const { return static_cast<int>(pointers.size()); }

  std::vector<std::vector<T>> sources;
  std::vector<void const*> pointers;
};

/// The one value that all of `values` are.
template <class T>
T only(kernel::Kernels const& set, std::vector<T> const& values) {
  for (T const value : values) EXPECT_EQ(bits(value), bits(values[0])) << set.name;
  return values[0];
}

/// What `set` makes of a column; avg divides by its length.
template <class T>
T reduce_column(kernel::Kernels const& set, Op op, std::vector<T> const& column) {
  Spread<T> const spread(column);
  std::vector<T> out(column_copies);
  constexpr auto type = static_cast<std::size_t>(type_of<T>::value);
  if (op == Op::avg) {
    set.average[type](out.data(), spread.pointers.data(), spread.count(), column_copies,
                      spread.count());
  } else {
    set.reduce[type][static_cast<std::size_t>(op)](out.data(), spread.pointers.data(),
                                                   spread.count(), column_copies);
  }
  return only(set, out);
}

/// The same by way of a wide part that is finished.
template <class T>
T reduce_column_wide(kernel::Kernels const& set, Op op, std::vector<T> const& column) {
  Spread<T> const spread(column);
  std::vector<Lane<T>> wide(column_copies);
  std::vector<T> out(column_copies);
  constexpr auto type = static_cast<std::size_t>(type_of<T>::value);
  set.reduce_wide[type][static_cast<std::size_t>(op)](wide.data(), spread.pointers.data(),
                                                      spread.count(), column_copies);
  set.finish[type](out.data(), wide.data(), column_copies, op == Op::avg ? spread.count() : 1);
  return only(set, out);
}

}  // namespace berth::test
