// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

/// As GoogleTest's own main, but a run in which every test was skipped ends with 77, which ctest
/// shows as skipped instead of passed.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  int const result = RUN_ALL_TESTS();
  testing::UnitTest const& unit = *testing::UnitTest::GetInstance();
  bool const only_skips =
      unit.skipped_test_count() > 0 && unit.skipped_test_count() == unit.test_to_run_count();
  return result == 0 && only_skips ? 77 : result;
}
