// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "settings.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace standin {

std::string setting(char const* name) {
  char const* const text = std::getenv(name);
  return text == nullptr ? std::string() : std::string(text);
}

long long nccl_integer(char const* name, long long fallback) {
  std::string const text = setting(name);
  return text.empty() ? fallback : std::strtoll(text.c_str(), nullptr, 0);
}

void bad_setting(std::string_view name, std::string_view text, std::string_view why) {
  std::fprintf(stderr, "nccl stand-in: %.*s: \"%.*s\": %.*s\n", static_cast<int>(name.size()),
               name.data(), static_cast<int>(text.size()), text.data(),
               static_cast<int>(why.size()), why.data());
  std::abort();
}

long long strict_integer(std::string_view name, std::string_view text, long long least,
                         long long most) {
  long long value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    bad_setting(name, text, "not a number");
  }
  if (value < least || value > most) bad_setting(name, text, "out of range");
  return value;
}

int version() {
  char const* const name = "STANDIN_NCCL_VERSION";
  std::string const text = setting(name);
  return text.empty() ? built_version : static_cast<int>(strict_integer(name, text, 0, 999999));
}

}  // namespace standin
