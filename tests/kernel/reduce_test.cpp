// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <kernel/reference.hpp>

namespace berth::test {
namespace {

constexpr std::size_t longest = 5003;
constexpr int most_sources = 33;
constexpr std::size_t margin = 128;
constexpr std::size_t room = margin + longest * sizeof(std::uint64_t) + margin;
constexpr unsigned char untouched = 0xa5;
constexpr int ranks = 7;  // what averages are divided by, whatever the number of sources

enum class Form { plain, twice, stream, wide, average };
constexpr int form_count = 5;

/// Operands and results begin somewhere behind the margin.
struct Buffer {
  alignas(64) unsigned char bytes[room];

  unsigned char* at(std::size_t offset) { return bytes + margin / 2 + offset; }
  /// Clears the neighbourhood of `size` bytes at `offset`.
  void clear(std::size_t offset, std::size_t size) {
    std::memset(at(offset) - margin / 2, untouched, size + margin);
  }
  /// Whether the neighbours are as cleared.
  bool is_clear_beside(std::size_t offset, std::size_t size) {
    unsigned char blank[margin / 2];
    std::memset(blank, untouched, sizeof blank);
    return std::memcmp(at(offset) - sizeof blank, blank, sizeof blank) == 0 &&
           std::memcmp(at(offset) + size, blank, sizeof blank) == 0;
  }
};

/// One call of one kernel; offsets are in bytes.
struct Case {
  Form form;
  int sources;
  std::size_t count;
  std::size_t out_offset, copy_offset;
  std::size_t source_offset[most_sources];
  int in_place;       ///< the source that `out` equals, or -1
  int copy_in_place;  ///< the source that `copy` equals, or -1
};

/// All that can be asked of one type and operation.
template <class T>
class Matrix {
 public:
  Matrix(Type type, Op op) : type_(type), op_(op) {
    for (auto& source : values_) {
      for (T& x : source) x = numbers_.element<T>();
    }
    for (std::size_t i = 0; i < longest; ++i) {
      Lane<T> sum = widen(values_[0][i]);
      for (int n = 1; n <= most_sources; ++n) {
        if (n > 1) sum = apply(op, sum, widen(values_[n - 1][i]));
        bool const copied = n == 1;  // also of avg, whose column is that of sum
        right_[n - 1][i] = copied ? values_[0][i] : narrow<T>(sum);
        wide_[n - 1][i] = copied && !is_half<T> ? sum : one_nan(sum);
        average_[n - 1][i] = narrow<T>(divided(sum, ranks));
      }
    }
  }

  /// Empty when the call gives the right bits and touches nothing else.
  std::string run(kernel::Kernels const& set, Case const& c) {
    std::size_t const bytes = c.count * (c.form == Form::wide ? sizeof(Lane<T>) : sizeof(T));
    void const* sources[most_sources];
    for (int s = 0; s < c.sources; ++s) {
      source_[s].clear(c.source_offset[s], c.count * sizeof(T));
      std::memcpy(source_[s].at(c.source_offset[s]), values_[s], c.count * sizeof(T));
      sources[s] = source_[s].at(c.source_offset[s]);
    }
    Buffer& out = c.in_place >= 0 ? source_[c.in_place] : out_;
    std::size_t const offset = c.in_place >= 0 ? c.source_offset[c.in_place] : c.out_offset;
    Buffer& copy = c.copy_in_place >= 0 ? source_[c.copy_in_place] : copy_;
    std::size_t const copy_offset =
        c.copy_in_place >= 0 ? c.source_offset[c.copy_in_place] : c.copy_offset;
    if (c.in_place < 0) out.clear(offset, bytes);
    if (c.copy_in_place < 0) copy.clear(copy_offset, bytes);
    call(set, c, out.at(offset), copy.at(copy_offset), sources);
    if (std::memcmp(out.at(offset), right(c), bytes) != 0) return "wrong result";
    if (!out.is_clear_beside(offset, bytes)) return "touched beside out";
    if (c.form != Form::twice) return "";
    if (std::memcmp(copy.at(copy_offset), right(c), bytes) != 0) return "wrong copy";
    return copy.is_clear_beside(copy_offset, bytes) ? "" : "touched beside copy";
  }

 private:
  void const* right(Case const& c) const {
    if (c.form == Form::wide) return wide_[c.sources - 1];
    if (c.form == Form::average) return average_[c.sources - 1];
    return right_[c.sources - 1];
  }
  void call(kernel::Kernels const& set, Case const& c, void* out, void* copy,
            void const* const* sources) const {
    auto const t = static_cast<std::size_t>(type_);
    auto const o = static_cast<std::size_t>(op_);
    if (c.form == Form::plain) set.reduce[t][o](out, sources, c.sources, c.count);
    if (c.form == Form::stream) set.reduce_stream[t][o](out, sources, c.sources, c.count);
    if (c.form == Form::twice) set.reduce_twice[t][o](out, copy, sources, c.sources, c.count);
    if (c.form == Form::wide) set.reduce_wide[t][o](out, sources, c.sources, c.count);
    if (c.form == Form::average) set.average[t](out, sources, c.sources, c.count, ranks);
  }

  Type type_;
  Op op_;
  Numbers numbers_;
  T values_[most_sources][longest];
  T right_[most_sources][longest];
  Lane<T> wide_[most_sources][longest];
  T average_[most_sources][longest];
  Buffer source_[most_sources];
  Buffer out_, copy_;
};

/// `turn` goes through eight misalignments in elements and one in bytes, and through what is in
/// place: nothing, `out`, `copy`, both.
Case make_case(Form form, int sources, std::size_t count, std::size_t turn, std::size_t size,
               bool half) {
  std::size_t const misalignment = turn % 9;
  Case c{form, sources, count, 0, 0, {}, -1, -1};
  auto const at = [&](std::size_t i) {
    return misalignment == 8 ? (2 * i + 1) % 64 : (misalignment * (i + 1)) % 8 * size;
  };
  c.out_offset = misalignment == 8 ? 3 : misalignment * size;
  c.copy_offset = at(10);
  for (int s = 0; s < sources; ++s) c.source_offset[s] = at(static_cast<std::size_t>(s));
  bool const may = form != Form::wide || !half;
  std::size_t const places = turn / 9 % 4;
  int const place = static_cast<int>(turn / 36 % static_cast<std::size_t>(sources));
  if (may && places % 2 == 1) c.in_place = place;
  if (form == Form::twice && places / 2 == 1 && (sources > 1 || c.in_place < 0)) {
    c.copy_in_place = (place + 1) % sources;
  }
  return c;
}

template <class T>
class Reduction : public testing::Test {
 protected:
  /// Every number of sources and elements, in every form and every set.
  void try_all(Op op) {
    auto const matrix = std::make_unique<Matrix<T>>(type_of<T>::value, op);
    for (int const sources : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 33}) {
      for (std::size_t count = 0; count <= 300; ++count) {
        try_forms(*matrix, op, sources, count);
      }
      if (sources > 5) continue;
      for (std::size_t const count : {1023, 2049, 5003}) {
        for (int again = 0; again < 8; ++again) try_forms(*matrix, op, sources, count);
      }
    }
  }

 private:
  void try_forms(Matrix<T>& matrix, Op op, int sources, std::size_t count) {
    for (int form = 0; form < form_count; ++form) {
      if (form == static_cast<int>(Form::average) && op != Op::avg) continue;
      Case const c =
          make_case(static_cast<Form>(form), sources, count, turn_, sizeof(T), is_half<T>);
      for (kernel::Kernels const* set : sets_) {
        ASSERT_EQ(matrix.run(*set, c), "")
            << set->name << ", op " << static_cast<int>(op) << ", form " << form << ", sources "
            << sources << ", count " << count << ", turn " << turn_;
      }
    }
    turn_ += 5;
  }

  std::vector<kernel::Kernels const*> sets_ = sets();
  std::size_t turn_ = 0;
};
using Elements = testing::Types<std::int8_t, std::uint8_t, std::int32_t, std::uint32_t,
                                std::int64_t, std::uint64_t, float16, bfloat16, float, double>;
TYPED_TEST_SUITE(Reduction, Elements);

TYPED_TEST(Reduction, SumHasTheBitsOfTheReferenceInEverySet) {
  this->try_all(Op::sum);
}
TYPED_TEST(Reduction, ProdHasTheBitsOfTheReferenceInEverySet) {
  this->try_all(Op::prod);
}
TYPED_TEST(Reduction, MinHasTheBitsOfTheReferenceInEverySet) {
  this->try_all(Op::min);
}
TYPED_TEST(Reduction, MaxHasTheBitsOfTheReferenceInEverySet) {
  this->try_all(Op::max);
}
TYPED_TEST(Reduction, AvgHasTheBitsOfTheReferenceInEverySet) {
  this->try_all(Op::avg);
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
        out->clear(to, bytes);
        set->stream_copy(out->at(to), in->at(from), bytes);
        ASSERT_EQ(std::memcmp(out->at(to), in->at(from), bytes), 0) << set->name << bytes;
        ASSERT_TRUE(out->is_clear_beside(to, bytes)) << set->name << ' ' << bytes;
      }
    }
  }
}

}  // namespace
}  // namespace berth::test
