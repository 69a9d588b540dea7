// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <kernel/reference.hpp>

namespace berth::test {
namespace {

constexpr std::size_t longest = 1023;
constexpr int most_sources = 8;
constexpr std::size_t room = 64 + (longest + 8) * sizeof(std::uint64_t) + 64;
constexpr unsigned char untouched = 0xa5;

enum class Form { plain, twice, stream };

/// A buffer of bytes that begins at a line, and operands and results somewhere in it.
struct Buffer {
  alignas(64) unsigned char bytes[room];

  void clear() { std::memset(bytes, untouched, sizeof bytes); }
  /// Whether all bytes outside [offset, offset + size) are as cleared.
  bool is_clear_outside(std::size_t offset, std::size_t size) const {
    unsigned char blank[room];
    std::memset(blank, untouched, room);
    return std::memcmp(bytes, blank, offset) == 0 &&
           std::memcmp(bytes + offset + size, blank, room - offset - size) == 0;
  }
};

/// One call of one kernel; offsets are in bytes.
struct Case {
  Form form;
  int sources;
  std::size_t count;
  std::size_t out_offset, copy_offset;
  std::size_t source_offset[most_sources];
  int in_place;  ///< the source that `out` equals, or -1
};

template <class T>
class Matrix {
 public:
  Matrix(Type type, Op op) : type_(type), op_(op) {
    for (auto& column : columns_) {
      for (T& x : column) x = numbers_.element<T>();
    }
    for (int n = 1; n <= most_sources; ++n) {
      for (std::size_t i = 0; i < longest; ++i) {
        right_[n - 1][i] = reduced<T>(op, {columns_[i], static_cast<std::size_t>(n)});
      }
    }
  }

  /// Empty when the call gives the right bits and touches nothing else.
  std::string run(kernel::Kernels const& set, Case const& c) {
    std::size_t const bytes = c.count * sizeof(T);
    void const* sources[most_sources];
    for (int s = 0; s < c.sources; ++s) {
      unsigned char* const at = source_[s].bytes + c.source_offset[s];
      for (std::size_t i = 0; i < c.count; ++i) {
        std::memcpy(at + i * sizeof(T), &columns_[i][s], sizeof(T));
      }
      sources[s] = at;
    }
    Buffer& target = c.in_place >= 0 ? source_[c.in_place] : out_;
    std::size_t const offset = c.in_place >= 0 ? c.source_offset[c.in_place] : c.out_offset;
    out_.clear();
    copy_.clear();
    call(set, c, target.bytes + offset, copy_.bytes + c.copy_offset, sources);
    T const* const right = right_[c.sources - 1];
    if (std::memcmp(target.bytes + offset, right, bytes) != 0) return "wrong result";
    if (c.in_place < 0 && !out_.is_clear_outside(offset, bytes)) return "touched beside out";
    if (c.form != Form::twice) return "";
    if (std::memcmp(copy_.bytes + c.copy_offset, right, bytes) != 0) return "wrong copy";
    return copy_.is_clear_outside(c.copy_offset, bytes) ? "" : "touched beside copy";
  }

 private:
  void call(kernel::Kernels const& set, Case const& c, void* out, void* copy,
            void const* const* sources) const {
    auto const t = static_cast<std::size_t>(type_);
    auto const o = static_cast<std::size_t>(op_);
    if (c.form == Form::plain) set.reduce[t][o](out, sources, c.sources, c.count);
    if (c.form == Form::stream) set.reduce_stream[t][o](out, sources, c.sources, c.count);
    if (c.form == Form::twice) set.reduce_twice[t][o](out, copy, sources, c.sources, c.count);
  }

  Type type_;
  Op op_;
  Numbers numbers_;
  T columns_[longest][most_sources];
  T right_[most_sources][longest];
  Buffer source_[most_sources];
  Buffer out_, copy_;
};

/// Case number `number` of a misalignment: 0..7 elements, 8 is askew by bytes.
Case make_case(Form form, int sources, std::size_t count, std::size_t misalignment,
               std::size_t size, bool in_place) {
  Case c{form, sources, count, 0, 0, {}, -1};
  auto const at = [&](std::size_t i) {
    return misalignment == 8 ? 2 * i + 1 : (misalignment * (i + 1)) % 8 * size;
  };
  c.out_offset = misalignment == 8 ? 3 : misalignment * size;
  c.copy_offset = at(10);
  for (int s = 0; s < sources; ++s) c.source_offset[s] = at(static_cast<std::size_t>(s));
  if (in_place) c.in_place = static_cast<int>(misalignment) % sources;
  return c;
}

template <class T>
void try_all(Op op) {
  auto const matrix = std::make_unique<Matrix<T>>(type_of<T>::value, op);
  for (kernel::Kernels const* set : sets()) {
    for (int const sources : {1, 2, 3, 4, 5, 8}) {
      for (std::size_t const count : {0, 1, 3, 7, 15, 16, 17, 33, 100, 1023}) {
        for (std::size_t misalignment = 0; misalignment <= 8; ++misalignment) {
          for (int variant = 0; variant < 6; ++variant) {
            auto const form = static_cast<Form>(variant / 2);
            bool const in_place = variant % 2 == 1;
            Case const c = make_case(form, sources, count, misalignment, sizeof(T), in_place);
            ASSERT_EQ(matrix->run(*set, c), "")
                << set->name << ", op " << static_cast<int>(op) << ", form " << variant / 2
                << ", sources " << sources << ", count " << count << ", misalignment "
                << misalignment << ", in place " << in_place;
          }
        }
      }
    }
  }
}

template <class T>
class Reduction : public testing::Test {};
using Elements = testing::Types<std::int32_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(Reduction, Elements);

TYPED_TEST(Reduction, SumHasTheBitsOfTheReferenceInEverySet) {
  try_all<TypeParam>(Op::sum);
}
TYPED_TEST(Reduction, ProdHasTheBitsOfTheReferenceInEverySet) {
  try_all<TypeParam>(Op::prod);
}
TYPED_TEST(Reduction, MinHasTheBitsOfTheReferenceInEverySet) {
  try_all<TypeParam>(Op::min);
}
TYPED_TEST(Reduction, MaxHasTheBitsOfTheReferenceInEverySet) {
  try_all<TypeParam>(Op::max);
}

TEST(StreamCopy, CopiesEveryLengthFromAndToEveryPlace) {
  Numbers numbers;
  auto const in = std::make_unique<Buffer>();
  auto const out = std::make_unique<Buffer>();
  for (auto& byte : in->bytes) byte = static_cast<unsigned char>(numbers.next());
  for (kernel::Kernels const* set : sets()) {
    for (std::size_t bytes : {0, 1, 63, 64, 65, 255, 256, 257, 320, 1000, 4096, 8000}) {
      for (std::size_t to = 0; to < 64; to += 7) {
        std::size_t const from = (to * 5) % 64;
        out->clear();
        set->stream_copy(out->bytes + to, in->bytes + from, bytes);
        ASSERT_EQ(std::memcmp(out->bytes + to, in->bytes + from, bytes), 0) << set->name << bytes;
        ASSERT_TRUE(out->is_clear_outside(to, bytes)) << set->name << ' ' << bytes;
      }
    }
  }
}

}  // namespace
}  // namespace berth::test
