// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <base/dynlib.hpp>
#include <base/error.hpp>

namespace berth::base {
namespace {

using testing::HasSubstr;

LibrarySearch search(std::vector<std::string> names, std::string file = {}) {
  LibrarySearch search;
  search.what = "the library of a test";
  search.variable = "BERTH_TEST_LIB";
  search.file = std::move(file);
  search.names = std::move(names);
  return search;
}

std::string refusal(LibrarySearch const& what, Errc code) {
  try {
    DynLib::open(what);
    return {};
  } catch (Error const& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
}

TEST(DynLib, OpensTheFirstNameThatThereIs) {
  DynLib const library = DynLib::open(search({"libberth-test-none.so.7", "libc.so.6"}));
  EXPECT_THAT(library.path(), HasSubstr("libc.so.6"));
  EXPECT_NE(library.find("abs"), nullptr);
  EXPECT_EQ(library.find("berth_no_such_symbol"), nullptr);
}

TEST(DynLib, SaysWhatIsNotFoundAndHowToNameIt) {
  std::string const text = refusal(search({"libberth-test-none.so.7"}), Errc::unsupported);
  EXPECT_THAT(text, HasSubstr("the library of a test is not found (libberth-test-none.so.7"));
  EXPECT_THAT(text, HasSubstr("BERTH_TEST_LIB"));
}

TEST(DynLib, TakesTheNamedFileAndNoOther) {
  std::string const text =
      refusal(search({"libc.so.6"}, "/nonexistent/lib.so"), Errc::bad_configuration);
  EXPECT_THAT(text, HasSubstr("BERTH_TEST_LIB=/nonexistent/lib.so: cannot be opened"));
}

TEST(DynLib, FindsOnlyWhatIsLoaded) {
  EXPECT_NE(DynLib::loaded("libc.so.6").find("abs"), nullptr);
  EXPECT_EQ(DynLib::loaded("libberth-test-none.so.7").find("abs"), nullptr);
}

TEST(DynLib, WithoutALibraryHasNoSymbols) {
  EXPECT_EQ(DynLib().find("abs"), nullptr);
}

}  // namespace
}  // namespace berth::base
