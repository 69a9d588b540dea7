// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <berth/error.hpp>
#include <json/json.hpp>
#include <sys/stat.h>

namespace {

using namespace berth;
using Value = nlohmann::json;

Value parsed(std::string const& text) {
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  return Value::parse(text);
}

TEST(JsonVerify, IsTheDocumentedText) {
  model::VerifyReport report;
  report.ranks = 8;
  report.hosts = 4;
  report.backend = "cpu";
  report.phases = {{"roll-call", 0.004, "8 of 8 present"}};
  report.findings = {{"wrong-data", 5, "n2", 3, "bit 17", true}, {"late", -1, "", -1, "x", false}};
  EXPECT_EQ(json::verify_document(report),
            R"({"schema":"berth.verify/1","ok":false,"ranks":8,"hosts":4,"backend":"cpu",)"
            R"("phases":[{"name":"roll-call","seconds":0.004,"note":"8 of 8 present"}],)"
            R"("findings":[{"kind":"wrong-data","rank":5,"host":"n2","peer":3,"detail":"bit 17",)"
            R"("drain":true},{"kind":"late","rank":null,"host":null,"peer":null,"detail":"x",)"
            R"("drain":false}],"drain":["n2"]})"
            "\n");
}

TEST(JsonVerify, HasEmptyListsWhenAllIsGood) {
  model::VerifyReport report;
  report.ok = true;
  Value const document = parsed(json::verify_document(report));
  EXPECT_EQ(document["ok"], true);
  EXPECT_TRUE(document["backend"].is_null());
  for (char const* list : {"phases", "findings", "drain"}) {
    EXPECT_TRUE(document[list].is_array() && document[list].empty()) << list;
  }
}

TEST(JsonVerify, ListsEachHostToDrainOnce) {
  model::VerifyReport report;
  report.findings = {{"wrong-data", 5, "n2", 3, "", true},
                     {"wrong-data", 6, "n2", 3, "", true},
                     {"stopped", 7, "n3", -1, "", false},
                     {"degraded", 1, "n0", -1, "", true}};
  EXPECT_EQ(parsed(json::verify_document(report))["drain"].dump(), R"(["n2","n0"])");
}

model::Sweep sweep() {
  model::Result result;
  result.collective = "all_reduce";
  result.backend = "cpu";
  result.size_bytes = 1024;
  result.count = 256;
  result.out_of_place = {{1.2, 1.1, 1.4, 1.9, 2.0, 1.15, 1.25}, 0.85, 0.85, 0};
  result.in_place = result.out_of_place;
  model::Sweep sweep;
  sweep.version = "0.1.0";
  sweep.ranks = 2;
  sweep.hosts = 1;
  sweep.iterations = 20;
  sweep.results = {result, result};
  sweep.results[1].compare = model::Compared{"mpi", result.out_of_place, 3.1, 3.0, 3.2};
  return sweep;
}

TEST(JsonBench, IsTheDocumentedText) {
  std::string const measured =
      R"("time_us":{"median":1.2,"min":1.1,"p95":1.4,"p99":1.9,"max":2.0,"ci95":[1.15,1.25]},)"
      R"("algbw_gbps":0.85,"busbw_gbps":0.85,"wrong":0)";
  std::string const result =
      R"({"collective":"all_reduce","backend":"cpu","size_bytes":1024,"count":256,)"
      R"("type":"float32","op":"sum","root":-1,"out_of_place":{)" +
      measured + R"(},"in_place":{)" + measured + "}";
  EXPECT_EQ(json::bench_document(sweep()),
            R"({"schema":"berth.bench/1","version":"0.1.0","ranks":2,"hosts":1,"iterations":20,)"
            R"("graph":0,"registered":false,)"
            R"("results":[)" +
                result + "}," + result + R"(,"compare":{"backend":"mpi",)" + measured +
                R"(,"ratio":3.1,"ratio_ci95":[3.0,3.2]}}]})" + "\n");
}

TEST(JsonBench, WritesNullForNumbersThatAreNotFinite) {
  model::Sweep values = sweep();
  values.results[0].in_place.busbw_gbps = std::numeric_limits<double>::infinity();
  values.results[0].in_place.algbw_gbps = std::numeric_limits<double>::quiet_NaN();
  Value const document = parsed(json::bench_document(values));
  EXPECT_TRUE(document["results"][0]["in_place"]["busbw_gbps"].is_null());
  EXPECT_TRUE(document["results"][0]["in_place"]["algbw_gbps"].is_null());
}

TEST(JsonBench, KeepsCountsAbove32Bits) {
  model::Sweep values = sweep();
  values.results[0].count = 3'000'000'001;
  values.results[0].out_of_place.wrong = std::numeric_limits<std::size_t>::max();
  Value const result = parsed(json::bench_document(values))["results"][0];
  EXPECT_EQ(result["count"], 3'000'000'001U);
  EXPECT_EQ(result["out_of_place"]["wrong"], std::numeric_limits<std::size_t>::max());
}

TEST(JsonMap, IsTheDocumentedText) {
  Placement place;
  place.local_rank = 0;
  place.device = "0000:07:00.0";
  place.numa_node = 0;
  place.cpus = "0-11,48-59";
  place.cores = 12;
  place.memory_nodes = {0};
  place.nics = {"mlx5_0", "mlx5_1"};
  place.nic_path = "PXB";
  place.flags = {"filled"};
  place.reason = "device 0 of 8 by bus id";
  Placement bare;
  bare.local_rank = 1;
  model::MapReport report;
  report.cost = 340.0;
  report.hosts.resize(1);
  report.hosts[0].name = "node0";
  report.hosts[0].topology = "file.xml";
  report.hosts[0].numa_nodes = 2;
  report.hosts[0].devices = 8;
  report.hosts[0].ranks = {{0, place, model::MapDevice{3, "0000:07:00.0", 0, "10de", 0}},
                           {1, bare, std::nullopt}};
  EXPECT_EQ(
      json::map_document(report),
      R"({"schema":"berth.map/1","cost":340.0,"launcher_cost":null,"hosts":[{"name":"node0","topology":"file.xml",)"
      R"("numa_nodes":2,"devices":8,"ranks":[{"rank":0,"local_rank":0,)"
      R"("device":{"bus_id":"0000:07:00.0","partition":0,"vendor":"10de","numa":0,"index":3},)"
      R"("numa":0,)"
      R"("cpus":"0-11,48-59","cores":12,"memory_nodes":[0],)"
      R"("nics":[{"name":"mlx5_0","path":"PXB"},{"name":"mlx5_1","path":null}],)"
      R"("flags":["filled"],"reason":"device 0 of 8 by bus id","cost":0.0},)"
      R"({"rank":1,"local_rank":1,"device":null,"numa":null,"cpus":"","cores":0,)"
      R"("memory_nodes":[],"nics":[],"flags":[],"reason":"","cost":0.0}]}]})"
      "\n");
}

TEST(JsonInfo, ListsSettingsWithTheirOrigin) {
  model::InfoReport report;
  report.version = "0.1.0";
  report.backends = {"cpu", "mpi"};
  report.settings = {{"BERTH_BIND", "1", "default"}, {"BERTH_LOG_FILE", "", "default"}};
  Value const document = parsed(json::info_document(report));
  EXPECT_EQ(document["schema"], "berth.info/1");
  EXPECT_EQ(document["backends"].dump(), R"(["cpu","mpi"])");
  EXPECT_TRUE(document["hwloc"].is_null());
  EXPECT_EQ(document["settings"][0]["value"], "1");
  EXPECT_TRUE(document["settings"][1]["value"].is_null());
}

TEST(JsonError, SaysWhoAndWhat) {
  EXPECT_EQ(json::error_document(Errc::lost, 5, "n2", "stopped"),
            R"({"schema":"berth.error/1","ok":false,"code":"lost","exit_code":1,"rank":5,)"
            R"("host":"n2","message":"stopped"})"
            "\n");
  EXPECT_TRUE(parsed(json::error_document(Errc::internal, -1, "", "x"))["rank"].is_null());
}

TEST(JsonText, ReplacesBytesThatAreNotUtf8) {
  Value const document = parsed(json::error_document(Errc::lost, 1, "\xff", "a\xc0\xaf\n\x01z"));
  EXPECT_EQ(document["host"], "\xef\xbf\xbd");
  EXPECT_EQ(document["message"].get<std::string>().back(), 'z');
}

TEST(JsonText, HasDecimalPointsInAnyLocale) {
  std::string const before = json::bench_document(sweep());
  char const* const set = std::setlocale(LC_ALL, "de_DE.UTF-8");
  std::string const after = json::bench_document(sweep());
  std::setlocale(LC_ALL, "C");
  if (set == nullptr) GTEST_SKIP() << "no de_DE.UTF-8 here";
  EXPECT_EQ(after, before);
}

/// A folder of this test that is gone afterwards.
class JsonWrite : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "berth-json-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string file(std::string const& name) const { return folder_ + "/" + name; }
  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder_), {}));
  }
  static std::string content(std::string const& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

 private:
  std::string folder_;
};

TEST_F(JsonWrite, ReplacesAFileAndLeavesNothingBeside) {
  json::write_document(file("a.json"), "first\n");
  json::write_document(file("a.json"), "second\n");
  EXPECT_EQ(content(file("a.json")), "second\n");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(JsonWrite, NamesPathAndReasonWhenItCannot) {
  ASSERT_EQ(::mkfifo(file("pipe").c_str(), S_IRUSR | S_IWUSR), 0);
  for (std::string const& path : {file("no/such/folder.json"), file(""), file("pipe")}) {
    try {
      json::write_document(path, "x");
      ADD_FAILURE() << path;
    } catch (Error const& error) {
      EXPECT_EQ(error.code(), Errc::system);
      EXPECT_EQ(std::string(error.what()).find("cannot write " + path), 0U);
    }
  }
  EXPECT_EQ(entries(), 1U);
}

TEST_F(JsonWrite, WritesToADeviceAsItIs) {
  EXPECT_NO_THROW(json::write_document("/dev/null", "x"));
}

TEST_F(JsonWrite, ReportsAFullDisk) {
  EXPECT_THROW(json::write_document("/dev/full", "x"), Error);
}

}  // namespace
