// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>

#include <gtest/gtest.h>
#include <support/random_text.hpp>

#include <base/env.hpp>
#include <berth/error.hpp>

namespace {

using namespace berth;
using namespace std::chrono_literals;
using base::Environment;

Environment with(std::map<std::string, std::string> const& values) {
  std::vector<std::string> names;
  names.reserve(values.size());
  for (auto const& [name, value] : values) names.push_back(name);
  return {[values](char const* name) -> char const* {
            auto const found = values.find(name);
            return found == values.end() ? nullptr : found->second.c_str();
          },
          names};
}

/// Calls every getter.
void read_all(Environment const& environment) {
  static_cast<void>(environment.backend());
  static_cast<void>(environment.bind());
  static_cast<void>(environment.binding());
  static_cast<void>(environment.smt());
  static_cast<void>(environment.fill());
  static_cast<void>(environment.on_lost());
  static_cast<void>(environment.init_deadline());
  static_cast<void>(environment.op_deadline());
  static_cast<void>(environment.log_level());
  static_cast<void>(environment.log_file());
  static_cast<void>(environment.shared_memory());
  static_cast<void>(environment.cudart_lib());
  static_cast<void>(environment.nccl_lib());
  static_cast<void>(environment.allow_nccl_comm_id());
}

/// The message with which the first getter refuses; empty when none does.
std::string refusal(Environment const& environment) {
  try {
    read_all(environment);
    return {};
  } catch (Error const& error) {
    EXPECT_EQ(error.code(), Errc::bad_configuration);
    EXPECT_EQ(error.rank(), -1);
    return error.what();
  }
}

TEST(Environment, GivesDefaultsWhenNothingIsSet) {
  Environment const environment = with({});
  EXPECT_EQ(environment.backend(), std::nullopt);
  EXPECT_EQ(environment.bind(), std::nullopt);
  EXPECT_EQ(environment.binding(), std::nullopt);
  EXPECT_EQ(environment.smt(), std::nullopt);
  EXPECT_EQ(environment.fill(), std::nullopt);
  EXPECT_EQ(environment.on_lost(), std::nullopt);
  EXPECT_EQ(environment.init_deadline(), std::nullopt);
  EXPECT_EQ(environment.op_deadline(), std::nullopt);
  EXPECT_EQ(environment.log_level(), "warn");
  EXPECT_EQ(environment.log_file(), "");
  EXPECT_EQ(environment.shared_memory(), "memfd");
  EXPECT_EQ(environment.cudart_lib(), "");
  EXPECT_EQ(environment.nccl_lib(), "");
  EXPECT_FALSE(environment.allow_nccl_comm_id());
  EXPECT_NO_THROW(environment.check_names());
}

TEST(Environment, ReadsEveryKindOfValue) {
  Environment const environment = with({{"BERTH_BACKEND", "mpi"},
                                        {"BERTH_BIND", "off"},
                                        {"BERTH_ON_LOST", "exit"},
                                        {"BERTH_INIT_DEADLINE", "500ms"},
                                        {"BERTH_OP_DEADLINE", "3"},
                                        {"BERTH_LOG", "debug"},
                                        {"BERTH_LOG_FILE", "/tmp/%h.%r.%%"},
                                        {"BERTH_SHARED_MEMORY", "none"}});
  EXPECT_EQ(environment.backend(), Backend::mpi);
  EXPECT_EQ(environment.bind(), false);
  EXPECT_EQ(environment.on_lost(), OnLost::exit);
  EXPECT_EQ(environment.init_deadline(), 500ms);
  EXPECT_EQ(environment.op_deadline(), 3s);
  EXPECT_EQ(environment.log_level(), "debug");
  EXPECT_EQ(environment.log_file(), "/tmp/%h.%r.%%");
  EXPECT_EQ(environment.shared_memory(), "none");
  EXPECT_NO_THROW(environment.check_names());
}

TEST(Environment, TakesEightWordsForABool) {
  for (char const* word : {"1", "on", "yes", "true"})
    EXPECT_EQ(with({{"BERTH_BIND", word}}).bind(), true) << word;
  for (char const* word : {"0", "off", "no", "false"})
    EXPECT_EQ(with({{"BERTH_BIND", word}}).bind(), false) << word;
}

TEST(Environment, NamesVariableValueAndRule) {
  std::string const duration =
      ": not a duration of at least 1ms such as 500ms, 3s, 2min (a bare number is seconds)";
  std::string const file = ": after % only h (host), r (rank) or another % may stand";
  std::vector<std::array<std::string, 3>> const rows = {
      {"BERTH_BACKEND", "fast", ": not one of automatic, cpu, mpi, nccl"},
      {"BERTH_BACKEND", "CPU", ": not one of automatic, cpu, mpi, nccl; did you mean cpu?"},
      {"BERTH_BACKEND", "cpu ", ": not one of automatic, cpu, mpi, nccl; did you mean cpu?"},
      {"BERTH_BIND", "yes please", ": not one of 1, on, yes, true, 0, off, no, false"},
      {"BERTH_ON_LOST", "throw", ": not one of raise, exit"},
      {"BERTH_INIT_DEADLINE", "soon", duration},
      {"BERTH_INIT_DEADLINE", "0", duration},
      {"BERTH_OP_DEADLINE", "-3s", duration},
      {"BERTH_LOG", "loudest", ": not one of error, warn, info, debug"},
      {"BERTH_LOG_FILE", "/tmp/%p", file},
      {"BERTH_LOG_FILE", "x%%%", file},
      {"BERTH_SHARED_MEMORY", "shmopen",
       ": not one of memfd, shm_open, none; did you mean shm_open?"},
  };
  for (auto const& [name, value, rule] : rows) {
    std::string message = name;
    message.append("=").append(value).append(rule);
    EXPECT_EQ(refusal(with({{name, value}})), message);
  }
}

TEST(Environment, ShowsAHostileValuePrintableAndCut) {
  EXPECT_EQ(refusal(with({{"BERTH_LOG", "\x1b[31m\xff"}})),
            "BERTH_LOG=?[31m?: not one of error, warn, info, debug");
  EXPECT_LT(refusal(with({{"BERTH_BACKEND", std::string(100'000, 'x')}})).size(), 250U);
}

TEST(Environment, RefusesAnEmptyValueOfEveryVariable) {
  for (base::Variable const& variable : base::variables()) {
    std::string const name(variable.name);
    EXPECT_EQ(refusal(with({{name, ""}})).find(name + " is empty: unset it or give "), 0U);
  }
}

std::string name_refusal(std::string const& name) {
  try {
    with({{"PATH", "/bin"}, {"BERTH_LOG", "warn"}, {name, "1"}}).check_names();
    return {};
  } catch (Error const& error) {
    EXPECT_EQ(error.code(), Errc::bad_configuration);
    return error.what();
  }
}

TEST(EnvironmentNames, AreOfferedWhenNear) {
  std::string const unset = " is not known; unset it (`berth info` lists the known ones)";
  EXPECT_EQ(name_refusal("BERTH_BAKEND"), "BERTH_BAKEND is not known; did you mean BERTH_BACKEND?");
  EXPECT_EQ(name_refusal("BERTH_LOGFILE"),
            "BERTH_LOGFILE is not known; did you mean BERTH_LOG_FILE?");
  EXPECT_EQ(name_refusal("BERTH_FAVOURITES"), "BERTH_FAVOURITES" + unset);
  EXPECT_EQ(name_refusal("BERTH_\x1b[1mFAVOURITES"), "BERTH_?[1mFAVOURITES" + unset);
  EXPECT_EQ(name_refusal("BERTHOLD"), "");
  EXPECT_EQ(name_refusal("berth_log"), "");
}

TEST(EnvironmentNames, AreRefusedInAnOrderThatAllRanksShare) {
  Environment const environment([](char const*) -> char const* { return nullptr; },
                                {"BERTH_ZEBRAFISH", "BERTH_ANTELOPES", "BERTH_LIONESSES"});
  try {
    environment.check_names();
    FAIL();
  } catch (Error const& error) {
    EXPECT_EQ(std::string(error.what()).find("BERTH_ANTELOPES "), 0U);
  }
}

TEST(EnvironmentSettings, KeepValueAndOriginOfEveryVariable) {
  Environment const environment = with({{"BERTH_BACKEND", "nonsense\n"}});
  auto const settings = environment.settings();
  ASSERT_EQ(settings.size(), base::variables().size());
  EXPECT_EQ(settings[0].name, "BERTH_BACKEND");
  EXPECT_EQ(settings[0].value, "nonsense?");
  EXPECT_EQ(settings[0].origin, base::Origin::environment);
  EXPECT_EQ(settings[1].value, "1");
  EXPECT_EQ(settings[1].origin, base::Origin::fallback);
  EXPECT_EQ(environment.describe().size(), settings.size());
  EXPECT_EQ(environment.describe()[2], "BERTH_BINDING        automatic  (default)");
}

TEST(EnvironmentTable, IsCompleteAndInThePage) {
  std::string const page = base::env_markdown();
  for (base::Variable const& variable : base::variables()) {
    EXPECT_EQ(variable.name.substr(0, 6), "BERTH_");
    EXPECT_FALSE(variable.type.empty() || variable.accepts.empty() || variable.help.empty() ||
                 variable.since.empty());
    EXPECT_NE(page.find("## " + std::string(variable.name) + "\n"), std::string::npos);
  }
}

TEST(EnvironmentTable, AcceptsItsOwnDefaults) {
  for (base::Variable const& variable : base::variables()) {
    if (variable.fallback.empty()) continue;
    EXPECT_EQ(refusal(with({{std::string(variable.name), std::string(variable.fallback)}})), "");
  }
}

TEST(EnvironmentProcess, SeesWhatIsSet) {
  ASSERT_EQ(::setenv("BERTH_LOG", "info", 1), 0);
  Environment const environment = Environment::process();
  EXPECT_EQ(environment.log_level(), "info");
  EXPECT_EQ(environment.raw("BERTH_LOG"), "info");
  EXPECT_EQ(environment.raw("BERTH_NOT_SET_AT_ALL"), std::nullopt);
  ASSERT_EQ(::setenv("BERTH_LOK", "info", 1), 0);
  EXPECT_THROW(Environment::process().check_names(), Error);
  ::unsetenv("BERTH_LOG");
  ::unsetenv("BERTH_LOK");
}

TEST(Environment, SurvivesRandomTexts) {
  test::RandomText texts("0123456789.smh%oncpufautic_");
  std::size_t const rows = base::variables().size();
  for (std::size_t i = 0; i < 10'000; ++i) {
    std::string const name(base::variables()[i % rows].name);
    std::string const message = refusal(with({{name, texts.next()}}));
    EXPECT_EQ(message.find('\n'), std::string::npos);
    EXPECT_LT(message.size(), 400U);
  }
}

}  // namespace
