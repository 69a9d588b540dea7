// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <support/random_text.hpp>

#include <base/units.hpp>

namespace {

using namespace berth;
using namespace std::chrono_literals;

TEST(UnitsParseBytes, ReadsEveryUnit) {
  EXPECT_EQ(base::parse_bytes("0"), 0U);
  EXPECT_EQ(base::parse_bytes("8"), 8U);
  EXPECT_EQ(base::parse_bytes("8B"), 8U);
  EXPECT_EQ(base::parse_bytes("64K"), 65536U);
  EXPECT_EQ(base::parse_bytes("64k"), 65536U);
  EXPECT_EQ(base::parse_bytes("1M"), 1048576U);
  EXPECT_EQ(base::parse_bytes("4G"), 4294967296U);
  EXPECT_EQ(base::parse_bytes("3KiB"), 3072U);
  EXPECT_EQ(base::parse_bytes("3KB"), 3000U);
  EXPECT_EQ(base::parse_bytes("2MiB"), 2097152U);
  EXPECT_EQ(base::parse_bytes("2MB"), 2000000U);
  EXPECT_EQ(base::parse_bytes("2GiB"), 2147483648U);
  EXPECT_EQ(base::parse_bytes("2GB"), 2000000000U);
  EXPECT_EQ(base::parse_bytes("18446744073709551615"), 18446744073709551615U);
  EXPECT_EQ(base::parse_bytes("17179869183G"), 18446744072635809792U);
}

TEST(UnitsParseBytes, RefusesEverythingElse) {
  for (char const* text :
       {"", "K", "-1", "+1", " 1", "1 ", "1 K", "1.5K", "1e3", "0x10", "1T", "1kib", "1KiBB", "1Ki",
        "18446744073709551616", "17179869184G", "99999999999999999999999", "1\xc2\xa0K", "eight"})
    EXPECT_EQ(base::parse_bytes(text), std::nullopt) << text;
}

TEST(UnitsParseDuration, ReadsEveryUnit) {
  EXPECT_EQ(base::parse_duration("500ms"), 500ms);
  EXPECT_EQ(base::parse_duration("3s"), 3s);
  EXPECT_EQ(base::parse_duration("2min"), 2min);
  EXPECT_EQ(base::parse_duration("1h"), 1h);
  EXPECT_EQ(base::parse_duration("60"), 60s);
  EXPECT_EQ(base::parse_duration("0.5"), 500ms);
  EXPECT_EQ(base::parse_duration("1.25min"), 75s);
  EXPECT_EQ(base::parse_duration("0"), 0ms);
  EXPECT_EQ(base::parse_duration("2400h"), 2400h);
}

TEST(UnitsParseDuration, RoundsUpSoThatABoundNeverBecomesNone) {
  EXPECT_EQ(base::parse_duration("0.0001"), 1ms);
  EXPECT_EQ(base::parse_duration("0.001"), 1ms);
  EXPECT_EQ(base::parse_duration("0.00000000000001"), 1ms);
  EXPECT_EQ(base::parse_duration("1.0001s"), 1001ms);
}

TEST(UnitsParseDuration, RefusesEverythingElse) {
  for (char const* text :
       {"",   "s",   "-1",  "+1",  " 1",  "1 s", "1m",  "1d",      "1S",      ".5",
        "1.", "1.s", "1e3", "inf", "nan", "0x1", "1,5", "2400.1h", "8640001", "1s1s"})
    EXPECT_EQ(base::parse_duration(text), std::nullopt) << text;
  EXPECT_EQ(base::parse_duration(std::string(1000, '9')), std::nullopt);
}

TEST(UnitsParseInteger, KeepsTheBounds) {
  EXPECT_EQ(base::parse_integer("0", 0, 9), 0);
  EXPECT_EQ(base::parse_integer("007", 0, 9), 7);
  EXPECT_EQ(base::parse_integer("9223372036854775807", 0, 9223372036854775807LL),
            9223372036854775807LL);
  for (char const* text : {"", "10", "-1", "+1", " 1", "1 ", "1.0", "a", "9223372036854775808"})
    EXPECT_EQ(base::parse_integer(text, 0, 9), std::nullopt) << text;
  EXPECT_EQ(base::parse_integer("1", 2, 9), std::nullopt);
}

TEST(UnitsFormatBytes, ShowsThreeDigits) {
  EXPECT_EQ(base::format_bytes(0), "0 B");
  EXPECT_EQ(base::format_bytes(8), "8 B");
  EXPECT_EQ(base::format_bytes(1000), "1000 B");
  EXPECT_EQ(base::format_bytes(1024), "1 KiB");
  EXPECT_EQ(base::format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(base::format_bytes(131072), "128 KiB");
  EXPECT_EQ(base::format_bytes(1048575), "1 MiB");
  EXPECT_EQ(base::format_bytes(67108864), "64 MiB");
  EXPECT_EQ(base::format_bytes(1234567), "1.18 MiB");
  EXPECT_EQ(base::format_bytes(18446744073709551615U), "16 EiB");
}

TEST(UnitsFormatCount, GroupsThousands) {
  EXPECT_EQ(base::format_count(0), "0");
  EXPECT_EQ(base::format_count(999), "999");
  EXPECT_EQ(base::format_count(1000), "1,000");
  EXPECT_EQ(base::format_count(70113), "70,113");
  EXPECT_EQ(base::format_count(18446744073709551615U), "18,446,744,073,709,551,615");
}

TEST(UnitsFormatSeconds, StaysInSeconds) {
  EXPECT_EQ(base::format_seconds(0), "0.000 s");
  EXPECT_EQ(base::format_seconds(0.00042), "0.0004 s");
  EXPECT_EQ(base::format_seconds(0.004), "0.004 s");
  EXPECT_EQ(base::format_seconds(0.4123), "0.412 s");
  EXPECT_EQ(base::format_seconds(0.9999), "1.00 s");
  EXPECT_EQ(base::format_seconds(9.999), "10.0 s");
  EXPECT_EQ(base::format_seconds(59.84), "59.8 s");
  EXPECT_EQ(base::format_seconds(600), "600 s");
}

TEST(UnitsParsers, SurviveRandomTexts) {
  test::RandomText texts("0123456789.KMGiBmshn-+e ");
  for (int i = 0; i < 10'000; ++i) {
    std::string text = texts.next();
    // Short ones reach further into the grammar.
    text.resize(std::min<std::size_t>(text.size(), static_cast<std::size_t>(i) % 12));
    if (auto const duration = base::parse_duration(text)) {
      EXPECT_GE(duration->count(), 0) << text;
      EXPECT_LE(*duration, 2400h) << text;
    }
    if (auto const bytes = base::parse_bytes(text)) {
      EXPECT_FALSE(base::format_bytes(*bytes).empty());
    }
    if (auto const number = base::parse_integer(text, 3, 1000)) {
      EXPECT_GE(*number, 3);
      EXPECT_LE(*number, 1000);
    }
  }
}

}  // namespace
