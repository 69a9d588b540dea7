// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include <fmt/format.h>

#include <base/error.hpp>
#include <base/text.hpp>
#include <place/place.hpp>

namespace berth::place {
namespace {

// Fields are separated by ';', the elements of lists are preceded by '='. Everything but letters,
// digits and a few harmless signs is written as %xx.
constexpr std::string_view version = "berth-placement-2";

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view(" ._:,-+/()").find(c) != std::string_view::npos;
}

std::string escape(std::string_view text) {
  std::string out;
  for (char const c : text) {
    if (is_plain(c)) {
      out += c;
    } else {
      out += fmt::format("%{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return out;
}

[[noreturn]] void fail_text(std::string const& text) {
  base::fail(Errc::internal, fmt::format("not an encoded placement: {}", base::printable(text)));
}

/// Takes an encoded placement apart, field by field.
class Fields {
 public:
  explicit Fields(std::string const& text) : text_(text), fields_(base::split(text, ';')) {}

  std::string raw() {
    if (next_ >= fields_.size()) fail_text(text_);
    return fields_[next_++];
  }
  std::string word() { return unescape(raw()); }
  int integer() { return number<int>(); }
  double real() { return number<double>(); }
  std::vector<std::string> words() {
    std::vector<std::string> values;
    std::vector<std::string> const pieces = base::split(raw(), '=');
    if (!pieces.front().empty()) fail_text(text_);
    for (std::size_t i = 1; i < pieces.size(); ++i) values.push_back(unescape(pieces[i]));
    return values;
  }
  [[nodiscard]] bool at_end() const { return next_ == fields_.size(); }

 private:
  template <class Value>
  Value parse(std::string_view text) const {
    Value value{};
    auto const result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc() || result.ptr != text.data() + text.size()) fail_text(text_);
    return value;
  }
  template <class Value>
  Value number() {
    return parse<Value>(raw());
  }
  std::string unescape(std::string_view text) const {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '%') {
        out += text[i];
        continue;
      }
      unsigned value = 0;
      if (i + 2 >= text.size()) fail_text(text_);
      auto const result = std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16);
      if (result.ptr != text.data() + i + 3) fail_text(text_);
      out += static_cast<char>(value);
      i += 2;
    }
    return out;
  }

  std::string const& text_;
  std::vector<std::string> fields_;
  std::size_t next_ = 0;
};

std::string list(std::vector<std::string> const& values) {
  std::string out;
  for (auto const& value : values) out += '=' + escape(value);
  return out;
}

std::string list(std::vector<int> const& values) {
  std::string out;
  for (int const value : values) out += fmt::format("={}", value);
  return out;
}

}  // namespace

std::string encode(Placement const& placement) {
  return fmt::format(
      "{};{};{};{};{};{};{};{};{};{};{};{};{};{};{}", version, placement.host, placement.local_rank,
      placement.local_size, escape(placement.device), placement.partition, placement.numa_node,
      escape(placement.cpus), placement.cores, list(placement.memory_nodes), list(placement.nics),
      escape(placement.nic_path), list(placement.flags), escape(placement.reason), placement.cost);
}

Placement decode(std::string const& text) {
  Fields fields(text);
  if (fields.raw() != version) fail_text(text);
  Placement placement;
  placement.host = fields.integer();
  placement.local_rank = fields.integer();
  placement.local_size = fields.integer();
  placement.device = fields.word();
  placement.partition = fields.integer();
  placement.numa_node = fields.integer();
  placement.cpus = fields.word();
  placement.cores = fields.integer();
  for (auto const& node : fields.words()) placement.memory_nodes.push_back(Fields(node).integer());
  placement.nics = fields.words();
  placement.nic_path = fields.word();
  placement.flags = fields.words();
  placement.reason = fields.word();
  placement.cost = fields.real();
  if (!fields.at_end()) fail_text(text);
  return placement;
}

}  // namespace berth::place
