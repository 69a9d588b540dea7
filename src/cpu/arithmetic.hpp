// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <kernel/reduce.hpp>
#include <model/descriptor.hpp>

namespace berth::cpu {

/// What an operation does with elements. Who has the contributions of all ranks reduces them
/// whole(); otherwise every host makes a wide part(), the parts are combined and the result is
/// finished: the division of an average and the one rounding of 16-bit floats come last.
class Arithmetic {
 public:
  /// @param kernels outlive this object
  Arithmetic(kernel::Kernels const& kernels, model::Descriptor const& operation, int ranks)
      : kernels_(kernels),
        type_(static_cast<std::size_t>(operation.type)),
        wide_(static_cast<std::size_t>(kernel::wide_type(operation.type))),
        op_(static_cast<std::size_t>(operation.op)),
        ranks_(ranks),
        is_average_(operation.op == Op::avg) {}

  /// Bytes of an element of a part.
  [[nodiscard]] std::size_t wide_bytes() const { return size_of(static_cast<Type>(wide_)); }

  /// The result of all contributions. `out` may equal a source.
  void whole(void* out, void const* const* sources, int source_count, std::size_t count) const {
    if (count == 0) return;
    if (is_average_) {
      kernels_.average[type_](out, sources, source_count, count, ranks_);
    } else {
      kernels_.reduce[type_][op_](out, sources, source_count, count);
    }
  }
  /// As whole(), twice: `out` and, around the cache, `copy`.
  void whole_twice(void* out, void* copy, void const* const* sources, int source_count,
                   std::size_t count) const {
    if (count == 0) return;
    if (is_average_) {
      kernels_.average[type_](out, sources, source_count, count, ranks_);
      kernels_.stream_copy(copy, out, count * size_of(static_cast<Type>(type_)));
    } else {
      kernels_.reduce_twice[type_][op_](out, copy, sources, source_count, count);
    }
  }
  /// The contributions of some ranks, wide. `out` overlaps no source.
  void part(void* out, void const* const* sources, int source_count, std::size_t count) const {
    if (count > 0) kernels_.reduce_wide[type_][op_](out, sources, source_count, count);
  }
  /// Parts, in the order in which they count. `out` may equal one of them.
  void combine(void* out, void const* const* parts, int part_count, std::size_t count) const {
    if (count > 0) kernels_.reduce[wide_][op_](out, parts, part_count, count);
  }
  /// The result of what all parts combine to. `out` may equal `wide`.
  void finish(void* out, void const* wide, std::size_t count) const {
    if (count == 0 || (out == wide && type_ == wide_ && !is_average_)) return;
    kernels_.finish[type_](out, wide, count, is_average_ ? ranks_ : 1);
  }

 private:
  kernel::Kernels const& kernels_;
  std::size_t type_;
  std::size_t wide_;
  std::size_t op_;
  int ranks_;
  bool is_average_;
};

}  // namespace berth::cpu
