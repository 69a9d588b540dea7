// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <base/text.hpp>
#include <report/bench_text.hpp>
#include <report/info_text.hpp>
#include <report/map_text.hpp>
#include <report/verify_text.hpp>

namespace berth::report {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Bytes are columns but for those that continue a character.
std::size_t widest(std::string const& text) {
  std::size_t most = 0;
  for (std::string const& line : base::split(text, '\n')) {
    std::size_t used = 0;
    for (char const c : line)
      if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) ++used;
    most = std::max(most, used);
  }
  return most;
}

model::Result result(std::size_t bytes, double us, double mpi_us) {
  model::Result r;
  r.collective = "all_reduce";
  r.backend = "cpu";
  r.size_bytes = bytes;
  r.count = bytes / 4;
  r.out_of_place = {{us, us, us, us, us, us * 0.98, us * 1.03}, 0, 0, 0};
  r.out_of_place.algbw_gbps = static_cast<double>(bytes) / us / 1e3;
  r.out_of_place.busbw_gbps = r.out_of_place.algbw_gbps;
  r.in_place = r.out_of_place;
  if (mpi_us > 0) {
    model::Compared other;
    other.backend = "mpi";
    other.measured.time_us.median = mpi_us;
    other.ratio = mpi_us / us;
    other.ratio_ci95_low = other.ratio * 0.95;
    other.ratio_ci95_high = other.ratio * 1.05;
    r.compare = other;
  }
  return r;
}

model::Sweep sweep(bool compare) {
  return {"0.1.0",
          2,
          1,
          20,
          true,
          {result(8, 0.1, compare ? 0.27 : 0), result(2048, 0.26, compare ? 0.64 : 0),
           result(33554432, 3410.4, compare ? 27123 : 0)}};
}

TEST(BenchText, HasTheTableWithBothBackends) {
  EXPECT_EQ(bench_text(sweep(true), {true}),
            "# berth 0.1.0  all_reduce  float32 sum  2 ranks, 1 host  backend cpu  20 iterations\n"
            "#                 out-of-place                 in-place               mpi\n"
            "#    size    time ±95%   busbw  wrong    time ±95%   busbw  wrong    time  mpi/berth\n"
            "#     (B)    (us)  (%)  (GB/s)    (#)    (us)  (%)  (GB/s)    (#)    (us)\n"
            "        8    0.10    3    0.08      0    0.10    3    0.08      0    0.27        2.7\n"
            "     2048    0.26    3    7.88      0    0.26    3    7.88      0    0.64        2.5\n"
            " 33554432    3410    3    9.84      0    3410    3    9.84      0   27123        8.0\n"
            "good: 0 wrong; 3 of 3 sizes faster than mpi, 3.8 x overall; slowest: 2 KiB, 2.5 x\n");
}

TEST(BenchText, WithoutComparisonSaysTheBestFigures) {
  EXPECT_EQ(bench_text(sweep(false), {true}),
            "# berth 0.1.0  all_reduce  float32 sum  2 ranks, 1 host  backend cpu  20 iterations\n"
            "#                 out-of-place                 in-place\n"
            "#    size    time ±95%   busbw  wrong    time ±95%   busbw  wrong\n"
            "#     (B)    (us)  (%)  (GB/s)    (#)    (us)  (%)  (GB/s)    (#)\n"
            "        8    0.10    3    0.08      0    0.10    3    0.08      0\n"
            "     2048    0.26    3    7.88      0    0.26    3    7.88      0\n"
            " 33554432    3410    3    9.84      0    3410    3    9.84      0\n"
            "good: 0 wrong; 3 sizes; 8 B in 0.10 us; busbw up to 9.84 GB/s at 32 MiB\n");
}

TEST(BenchText, IsAsciiWhereTheLocaleIsNotUtf8) {
  std::string const text = bench_text(sweep(true), {false});
  for (char const c : text) EXPECT_GT(c, 0);
  EXPECT_THAT(text, HasSubstr("    time +-95   busbw"));
}

TEST(BenchText, CountsOnlySizesWhoseIntervalIsAboveOneAsFaster) {
  model::Sweep s = sweep(true);
  s.results[1].compare->ratio_ci95_low = 0.9;
  EXPECT_THAT(bench_text(s, {true}), HasSubstr("2 of 3 sizes faster"));
}

TEST(BenchText, SaysWhatWasWrongAndIsBad) {
  model::Sweep s = sweep(true);
  s.results[1].in_place.wrong = 37;
  EXPECT_EQ(wrong_elements(s), 37U);
  EXPECT_THAT(bench_text(s, {true}),
              HasSubstr("\nbad: 37 elements wrong, first in all_reduce float32 sum at 2 KiB, "
                        "in place; berth verify finds the rank\n"));
}

TEST(BenchText, DoesNotClaimWhatWasNotChecked) {
  model::Sweep s = sweep(false);
  s.checked = false;
  EXPECT_THAT(bench_text(s, {true}), HasSubstr("    3    0.08      -"));
  EXPECT_THAT(bench_text(s, {true}), HasSubstr("good: not checked; "));
}

TEST(BenchText, HasOneTablePerTypeAndOperation) {
  model::Sweep s = sweep(false);
  s.results[2].op = Op::max;
  std::string const text = bench_text(s, {true});
  EXPECT_THAT(text, HasSubstr("  float32 sum  "));
  EXPECT_THAT(text, HasSubstr("  float32 max  "));
}

TEST(BenchText, FitsTheColumns) {
  model::Sweep s = sweep(true);
  s.results.push_back(result(17179869184, 98765432.1, 123456789.1));
  EXPECT_LE(widest(bench_text(s, {true})), columns);
}

TEST(BenchCsv, HasOneLinePerVariantAndDecimalPoints) {
  std::string const text = bench_csv(sweep(true));
  auto const lines = base::split(text, '\n');
  ASSERT_EQ(lines.size(), 1U + 9U + 1U);
  EXPECT_THAT(lines[0], StartsWith("collective,backend,variant,size_bytes,count,type,op,root,"));
  EXPECT_EQ(lines[1],
            "all_reduce,cpu,out_of_place,8,2,float32,sum,-1,0.1000,0.1000,0.1000,0.1000,0.1000,"
            "0.0980,0.1030,0.0800,0.0800,0,,,");
  EXPECT_THAT(lines[3], StartsWith("all_reduce,mpi,out_of_place,8,2,"));
  EXPECT_THAT(lines[3], HasSubstr(",2.7000,2.5650,2.8350"));
  for (std::size_t i = 1; i < 10; ++i)
    EXPECT_EQ(base::split(lines[i], ',').size(), base::split(lines[0], ',').size());
}

TEST(ProgressLine, ShowsHowFarAndHowLong) {
  EXPECT_EQ(progress_line(11, 24, 2097152, 8.2),
            "[=========>          ] 11 of 24 sizes, 2 MiB, about 9 s left");
  EXPECT_EQ(progress_line(24, 24, 8, 0),
            "[====================] 24 of 24 sizes, 8 B, about 0 s left");
}

model::VerifyReport good_report() {
  model::VerifyReport report;
  report.ok = true;
  report.ranks = 16;
  report.hosts = 2;
  report.backend = "cpu";
  report.phases = {{"roll-call", 0.004, "16 of 16 present"}, {"data", 0.452, "all right"}};
  return report;
}

TEST(VerifyText, LooksAsPeopleKnowIt) {
  model::VerifyReport const report = good_report();
  EXPECT_EQ(verify_header(report, "0.1.0", std::chrono::seconds(60)),
            "berth 0.1.0: 16 ranks on 2 hosts, backend cpu, deadline 60 s\n");
  EXPECT_EQ(phase_line(report.phases[0]),
            "  roll call   16 of 16 present                    0.004 s\n");
  EXPECT_EQ(verify_verdict(report), "good: 16 ranks on 2 hosts, 0.456 s\n");
}

TEST(VerifyText, NamesTheGuiltyAndTheHostToDrain) {
  model::VerifyReport report = good_report();
  report.ok = false;
  report.findings = {{"wrong-data", 11, "n2", -1,
                      "float32, sum, 1 MiB: delivers a flipped bit: element 70,113, bit 17, in 3 "
                      "of 3 rounds, seen by 16 of 16 ranks",
                      true}};
  EXPECT_EQ(finding_lines(report.findings[0]),
            "  rank 11@n2  float32, sum, 1 MiB: delivers a flipped bit: element 70,113, bit 17, in "
            "3 of 3 rounds,\n"
            "              seen by 16 of 16 ranks\n");
  EXPECT_EQ(verify_verdict(report),
            "bad: rank 11@n2 delivers wrong data; 15 of 16 ranks well; drain n2\n");
}

TEST(VerifyText, SaysThatAStoppedProcessIsNotABadNode) {
  model::VerifyReport report = good_report();
  report.ok = false;
  report.findings = {{"stopped", 5, "n2", -1, "pid 4211, process stopped (state T)", false}};
  EXPECT_EQ(verify_verdict(report), "bad: rank 5@n2 is stopped; 15 of 16 ranks well; drain none\n");
}

TEST(VerifyText, SaysWhenNobodyCanBeNamed) {
  model::VerifyReport report = good_report();
  report.ok = false;
  report.findings = {{"wrong-data", -1, "", -1, "did not recur", false}};
  EXPECT_EQ(verify_verdict(report),
            "bad: wrong data from a rank that is not identifiable; drain none\n");
}

TEST(VerifyText, CountsWhatItDoesNotName) {
  model::VerifyReport report = good_report();
  report.ok = false;
  for (int rank = 0; rank < 5; ++rank)
    report.findings.push_back({"late", rank, "a", -1, "", false});
  EXPECT_EQ(verify_verdict(report),
            "bad: rank 0@a is late, rank 1@a is late, rank 2@a is late and 2 more; 11 of 16 ranks "
            "well; drain none\n");
}

model::MapReport map_report() {
  model::MapReport report;
  model::MapHost host;
  host.name = "node0";
  host.summary = "2 packages, 2 NUMA nodes, 112 cores (SMT 2), 8 x NVIDIA H100";
  for (int rank = 0; rank < 2; ++rank) {
    model::MapRank row;
    row.rank = rank;
    row.placement.numa_node = 0;
    row.placement.cores = 14;
    row.placement.cpus = rank == 0 ? "0-13,112-125" : "14-27,126-139";
    row.placement.memory_nodes = {0};
    row.placement.nics = {rank == 0 ? "mlx5_0" : "mlx5_3"};
    row.placement.nic_path = "PIX";
    row.device = model::MapDevice{rank, rank == 0 ? "0000:1b:00.0" : "0000:43:00.0", 0, "10de", 0};
    host.ranks.push_back(row);
  }
  report.hosts = {host};
  return report;
}

TEST(MapText, IsATableWithItsVerdict) {
  EXPECT_EQ(map_text(map_report()),
            "node0: 2 packages, 2 NUMA nodes, 112 cores (SMT 2), 8 x NVIDIA H100\n"
            "\n"
            " rank  device           NUMA  cores  CPUs           memory  NIC     path\n"
            "    0  0  0000:1b:00.0     0     14  0-13,112-125   0       mlx5_0  PIX\n"
            "    1  1  0000:43:00.0     0     14  14-27,126-139  0       mlx5_3  PIX\n"
            "\n"
            "good: every rank beside its device and nearest NIC (cost 0)\n");
}

TEST(MapText, TellsEveryCompromise) {
  model::MapReport report = map_report();
  report.cost = 12.5;
  report.hosts[0].ranks[1].placement.flags = {"remote-cores"};
  report.hosts[0].ranks[1].placement.reason = "cores on NUMA 1, device on NUMA 3";
  EXPECT_THAT(map_text(report),
              HasSubstr("\nrank 1: remote-cores (cores on NUMA 1, device on NUMA 3)\n"
                        "good: 1 of 2 ranks without a compromise (cost 12.5)\n"));
}

TEST(MapText, ShowsADashForWhatARankDoesNotHave) {
  model::MapReport report = map_report();
  report.hosts[0].ranks.resize(1);
  model::MapRank& rank = report.hosts[0].ranks[0];
  rank.device.reset();
  rank.placement.nics.clear();
  rank.placement.nic_path.clear();
  EXPECT_THAT(map_text(report),
              HasSubstr("    0  -          0     14  0-13,112-125  0       -    -"));
  EXPECT_THAT(map_text(report), HasSubstr("good: every rank on cores and memory of its own"));
}

TEST(MapText, CutsALongListOfCpusToTheColumns) {
  model::MapReport report = map_report();
  std::string cpus = "0";
  for (int cpu = 2; cpu < 200; cpu += 2) cpus += "," + std::to_string(cpu);
  report.hosts[0].ranks[0].placement.cpus = cpus;
  EXPECT_LE(widest(map_text(report)), columns);
}

TEST(InfoText, ListsTheBuildAndTheVariables) {
  model::InfoReport report;
  report.version = "0.1.0";
  report.mpi = "Open MPI v4.1.4";
  report.kernels = "avx2";
  report.backends = {"cpu", "mpi"};
  report.settings = {{"BERTH_BACKEND", "automatic", "default"}, {"BERTH_LOG_FILE", "", "default"}};
  EXPECT_EQ(info_text(report),
            "berth 0.1.0\n"
            "  MPI            Open MPI v4.1.4\n"
            "  backends       cpu, mpi\n"
            "  kernels        avx2\n"
            "\n"
            " variable        value      origin\n"
            " BERTH_BACKEND   automatic  default\n"
            " BERTH_LOG_FILE  -          default\n");
}

}  // namespace
}  // namespace berth::report
