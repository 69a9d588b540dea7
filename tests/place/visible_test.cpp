// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <berth/error.hpp>
#include <place/place.hpp>

#include "machines.hpp"

namespace berth {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Four NVIDIA GPUs; 10 is not one by index alone, as an AMD one sits between.
model::Node four_gpus() {
  model::Node node = test::machine({1, 1, 4, 1});
  char const* const uuids[] = {"GPU-1a2b3c4d-0000", "GPU-1a2b9999-0000", "GPU-77777777-0000",
                               "GPU-88888888-0000"};
  for (int i = 0; i < 4; ++i) {
    test::add_gpu(node, "0000:" + std::to_string(i + 1) + "0:00.0", 0);
    node.devices.back().uuid = uuids[i];
  }
  test::add_gpu(node, "0000:15:00.0", 0);
  node.devices.back().vendor = "1002";
  std::sort(node.devices.begin(), node.devices.end(),
            [](auto const& a, auto const& b) { return a.bus_id < b.bus_id; });
  return node;
}

// One GPU whole, one in three MIG instances.
model::Node with_mig() {
  model::Node node = test::machine({1, 1, 4, 1});
  test::add_gpu(node, "0000:10:00.0", 0);
  node.devices.back().uuid = "GPU-10000000-1111";
  char const* const uuids[] = {"MIG-aaaa1111-2222", "MIG-aaaa3333-4444",
                               "MIG-GPU-20000000-1111/1/0"};
  for (int i = 0; i < 3; ++i) {
    test::add_gpu(node, "0000:20:00.0", 0);
    node.devices.back().partition = i;
    node.devices.back().uuid = uuids[i];
  }
  test::add_gpu(node, "0000:30:00.0", 0);
  node.devices.back().uuid = "GPU-30000000-1111";
  return node;
}

std::vector<std::string> visible(model::Node const& node, std::optional<std::string> const& text) {
  std::vector<std::string> names;
  for (auto const& key : place::visible_devices(node, text)) {
    names.push_back(key.bus_id.substr(5, 2) + "." + std::to_string(key.partition));
  }
  return names;
}

TEST(VisibleDevices, AreAllWithoutTheVariable) {
  EXPECT_THAT(visible(four_gpus(), std::nullopt),
              ElementsAre("10.0", "15.0", "20.0", "30.0", "40.0"));
}

TEST(VisibleDevices, AreNoneForAnEmptyText) {
  EXPECT_THAT(visible(four_gpus(), ""), IsEmpty());
  EXPECT_THAT(visible(four_gpus(), " "), IsEmpty());
  EXPECT_THAT(visible(four_gpus(), "-1"), IsEmpty());
  EXPECT_THAT(visible(four_gpus(), "NoDevFiles"), IsEmpty());
}

TEST(VisibleDevices, KeepTheOrderOfTheText) {
  EXPECT_THAT(visible(four_gpus(), "0"), ElementsAre("10.0"));
  EXPECT_THAT(visible(four_gpus(), "3,1"), ElementsAre("40.0", "20.0"));
  EXPECT_THAT(visible(four_gpus(), " 2 , 0 "), ElementsAre("30.0", "10.0"));
}

TEST(VisibleDevices, EndAtTheFirstThatIsNotValid) {
  EXPECT_THAT(visible(four_gpus(), "0,2,-1,1"), ElementsAre("10.0", "30.0"));
  EXPECT_THAT(visible(four_gpus(), "1,4,0"), ElementsAre("20.0"));
  EXPECT_THAT(visible(four_gpus(), "1,x,0"), ElementsAre("20.0"));
  EXPECT_THAT(visible(four_gpus(), "1,,0"), ElementsAre("20.0"));
  EXPECT_THAT(visible(four_gpus(), "0,99999999999999999999"), ElementsAre("10.0"));
  EXPECT_THAT(visible(four_gpus(), "0,1.5"), ElementsAre("10.0"));
}

TEST(VisibleDevices, AreNoneWhenOneIsNamedTwice) {
  EXPECT_THAT(visible(four_gpus(), "0,1,0"), IsEmpty());
  EXPECT_THAT(visible(four_gpus(), "0,GPU-1a2b3"), IsEmpty());
}

TEST(VisibleDevices, MayBeNamedByTheStartOfTheirUuid) {
  EXPECT_THAT(visible(four_gpus(), "GPU-7,GPU-1a2b9999-0000"), ElementsAre("30.0", "20.0"));
  // Two start like this, and none like that.
  EXPECT_THAT(visible(four_gpus(), "GPU-7,GPU-1a2b"), ElementsAre("30.0"));
  EXPECT_THAT(visible(four_gpus(), "GPU-9"), IsEmpty());
  EXPECT_THAT(visible(four_gpus(), "GPU-"), IsEmpty());
}

TEST(VisibleDevices, MayBePartsOfAGpu) {
  EXPECT_THAT(visible(with_mig(), "MIG-aaaa3"), ElementsAre("20.1"));
  EXPECT_THAT(visible(with_mig(), "MIG-aaaa"), IsEmpty());
  EXPECT_THAT(visible(with_mig(), "MIG-GPU-20000000-1111/1/0"), ElementsAre("20.2"));
  EXPECT_THAT(visible(with_mig(), "MIG-GPU-2/1/0"), ElementsAre("20.2"));
  EXPECT_THAT(visible(with_mig(), "MIG-GPU-2/1/1"), IsEmpty());
  // An index names a GPU; of one in parts it is the first part.
  EXPECT_THAT(visible(with_mig(), "2,1,0"), ElementsAre("30.0", "20.0", "10.0"));
  EXPECT_THAT(visible(with_mig(), "3"), IsEmpty());
}

TEST(VisibleDevices, CountPartitionsOfAnotherVendorOneByOne) {
  model::Node node = test::machine({1, 1, 4, 1});
  for (int i = 0; i < 3; ++i) {
    test::add_gpu(node, "0000:02:00.0", 0);
    node.devices.back().vendor = "1002";
    node.devices.back().partition = i;
  }
  EXPECT_THAT(visible(node, "2,0"), ElementsAre("02.2", "02.0"));
}

TEST(VisibleDevices, RefuseWhatIsNoText) {
  EXPECT_THROW(visible(four_gpus(), "0\n1"), Error);
  EXPECT_THROW(visible(four_gpus(), std::string("0\0", 2)), Error);
  EXPECT_THROW(visible(four_gpus(), std::string(1UL << 20U, '0')), Error);
  try {
    visible(four_gpus(), "0,\x1b[2J");
    FAIL();
  } catch (Error const& error) {
    EXPECT_EQ(error.code(), Errc::bad_input);
    EXPECT_THAT(error.what(), testing::HasSubstr("CUDA_VISIBLE_DEVICES"));
    EXPECT_EQ(std::string(error.what()).find('\x1b'), std::string::npos);
  }
}

// Whatever the text: existing devices, none twice, or one clear error.
TEST(VisibleDevices, SurviveRandomText) {
  std::mt19937 random(7);
  auto const below = [&](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
  };
  std::vector<std::string> const pieces{"0",     "1",    "2",   "3",     "-1",    "-",   ",",
                                        ",",     ",",    " ",   "GPU-",  "MIG-",  "1a2", "MIG-GPU-",
                                        "/1/0",  "aaaa", "777", "99999", "\xff",  "\n",  "/",
                                        "GPU-7", "0x1",  "+1",  "1e3",   "MIG-a", "\t"};
  for (auto const& node : {four_gpus(), with_mig(), model::Node{}}) {
    for (int i = 0; i < 20000; ++i) {
      std::string text;
      for (std::size_t k = below(12); k > 0; --k) text += pieces[below(pieces.size())];
      if (i % 10 == 0 && !text.empty()) text[below(text.size())] = static_cast<char>(below(256));
      try {
        auto keys = place::visible_devices(node, text);
        for (auto const& key : keys) {
          EXPECT_EQ(std::count(keys.begin(), keys.end(), key), 1) << text;
          EXPECT_TRUE(std::any_of(node.devices.begin(), node.devices.end(), [&](auto const& d) {
            return d.bus_id == key.bus_id && d.partition == key.partition;
          })) << text;
        }
      } catch (Error const& error) {
        EXPECT_EQ(error.code(), Errc::bad_input) << text;
      }
    }
  }
}

}  // namespace
}  // namespace berth
