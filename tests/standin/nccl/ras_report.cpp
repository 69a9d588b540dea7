// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
/// What RAS answers, with the keys of NCCL 2.28.9.
#include <algorithm>
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "communicator.hpp"
#include "log.hpp"
#include "ras.hpp"
#include "settings.hpp"

namespace standin {
namespace {

/// Those that NCCL counts, in its order.
constexpr struct {
  Kind kind;
  char const* name;
} counted[] = {{Kind::broadcast, "Broadcast"},
               {Kind::reduce, "Reduce"},
               {Kind::all_gather, "AllGather"},
               {Kind::reduce_scatter, "ReduceScatter"},
               {Kind::all_reduce, "AllReduce"}};

/// What RAS knows of one rank; nothing of a process that is gone.
struct Seen {
  int rank;
  Peer const* peer;
  Status status;

  unsigned long long count(Kind kind) const {
    return status.page()->counts[static_cast<unsigned>(kind)].load();
  }
  unsigned long long total() const {
    unsigned long long sum = 0;
    for (auto const& each : counted) sum += count(each.kind);
    return sum;
  }
};

/// Those that answer, and those that do not.
struct Ranks {
  std::vector<Seen> here;
  std::vector<Seen> missing;

  explicit Ranks(Communicator const& communicator) {
    int rank = 0;
    for (Peer const& peer : communicator.peers()) {
      Seen seen{rank++, &peer, Status::of(peer)};
      auto& list = seen.status.page() == nullptr ? missing : here;
      list.push_back(std::move(seen));
    }
  }
};

char const* word(bool value) {
  return value ? "true" : "false";
}

std::string address_of(Peer const& peer) {
  std::string const whole = peer.listener.text();
  return whole.substr(0, whole.find('<'));
}

/// The keys that a rank has whether it answers or not.
std::string rank_json(Seen const& seen) {
  return text(
      "        {\n          \"rank\": %d,\n          \"host\": \"%s\",\n          \"pid\": %d,\n"
      "          \"cuda_dev\": %d,\n          \"nvml_dev\": %d,\n          \"status\": {\n",
      seen.rank, address_of(*seen.peer).c_str(), seen.peer->pid, seen.peer->device,
      seen.peer->device);
}

std::string here_json(Seen const& seen) {
  StatusPage const& page = *seen.status.page();
  std::string out = rank_json(seen);
  out += text(
      "            \"init_state\": %d,\n            \"async_error\": %d,\n"
      "            \"finalize_called\": %s,\n            \"destroy_flag\": %s,\n"
      "            \"abort_flag\": %s\n          },\n          \"collective_counts\": {\n",
      page.init_state.load(), page.async_error.load(), word(page.finalized.load() != 0),
      word(page.destroyed.load() != 0), word(page.aborted.load() != 0));
  char const* separator = "";
  for (auto const& each : counted) {
    out += text("%s            \"%s\": %llu", separator, each.name, seen.count(each.kind));
    separator = ",\n";
  }
  return out + "\n          }\n        }";
}

std::string missing_json(Seen const& seen) {
  return rank_json(seen) +
         "            \"unresponsive\": true,\n            \"considered_dead\": true\n"
         "          }\n        }";
}

std::string list_json(std::vector<Seen> const& ranks, std::string (*one)(Seen const&)) {
  std::string out;
  for (Seen const& each : ranks) out += (out.empty() ? "" : ",\n") + one(each);
  return out.empty() ? out : out + "\n";
}

std::string communicator_json(Communicator const& communicator) {
  Ranks const ranks(communicator);
  unsigned long long const name = hash(std::to_string(communicator.magic()));
  return text(
             "    {\n      \"hash\": \"0x%llx\",\n      \"secondary_hash\": \"0x%llx:0x%llx\",\n"
             "      \"size\": %d,\n      \"ranks_count\": %zu,\n"
             "      \"missing_ranks_count\": %zu,\n",
             name, name, name, communicator.ranks(), ranks.here.size(), ranks.missing.size()) +
         "      \"ranks\": [\n" + list_json(ranks.here, here_json) +
         "      ],\n      \"missing_ranks\": [\n" + list_json(ranks.missing, missing_json) +
         "      ]\n    }";
}

std::string version_text() {
  int const code = version();
  return text("%d.%d.%d", code / 10000, code / 100 % 100, code % 100);
}

/// Who has launched how much, when they differ.
std::string mismatch_text(std::vector<Seen> const& ranks, unsigned long long name) {
  std::map<unsigned long long, std::vector<Seen const*>> by_count;
  for (Seen const& each : ranks) by_count[each.total()].push_back(&each);
  if (by_count.size() < 2) return "";
  std::string out = text(
      "\n#0-0 (%016llx) MISMATCH\n  Communicator ranks have different "
      "collective operation counts\n",
      name);
  for (auto entry = by_count.rbegin(); entry != by_count.rend(); ++entry) {
    auto const& [count, who] = *entry;
    if (who.size() > 1) {
      out += text("  %zu ranks have launched up to operation %llu\n", who.size(), count);
      continue;
    }
    out += text(
        "  Rank %d has launched up to operation %llu -- GPU %d managed by process %d on "
        "node %s\n",
        who.front()->rank, count, who.front()->peer->device, who.front()->peer->pid,
        address_of(*who.front()->peer).c_str());
  }
  return out;
}

std::string missing_text(std::vector<Seen> const& ranks) {
  std::string out;
  for (Seen const& each : ranks) {
    out += text("  Rank %d -- GPU %d managed by process %d on node %s: considered dead\n",
                each.rank, each.peer->device, each.peer->pid, address_of(*each.peer).c_str());
  }
  return out.empty() ? out : "\nINCOMPLETE\n  Missing communicator data\n" + out;
}

std::string verbose_text(std::vector<Seen> const& ranks) {
  std::string out;
  for (Seen const& each : ranks) {
    out +=
        text("  Rank %d: %llu operations, process %d\n", each.rank, each.total(), each.peer->pid);
  }
  return out;
}

}  // namespace

std::string ras_json() {
  int runtime = 0;
  int driver = 0;
  cudaRuntimeGetVersion(&runtime);
  cudaDriverGetVersion(&driver);
  std::time_t const now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char stamp[32] = "";
  std::strftime(stamp, sizeof stamp, "%F %T", &parts);
  auto const all = living();
  std::string out = text(
      "{\n  \"nccl_version\": \"%s\",\n  \"cuda_runtime_version\": %d,\n"
      "  \"cuda_driver_version\": %d,\n  \"timestamp\": \"%s\",\n"
      "  \"communicators_count\": %zu,\n  \"communicators\": [\n",
      version_text().c_str(), runtime, driver, stamp, all.size());
  for (auto const& each : all) {
    out += communicator_json(*each) + (each == all.back() ? "\n" : ",\n");
  }
  return out +
         "  ],\n  \"ras\": {\n    \"collection_time_sec\": 0.000,\n"
         "    \"timeouts_count\": 0\n  }\n}\n";
}

std::string ras_text(bool verbose) {
  std::string out = "NCCL version " + version_text() + " compiled with CUDA 13.0\n";
  out += "\nCommunicators...\n";
  for (auto const& each : living()) {
    Ranks const ranks(*each);
    unsigned long long const name = hash(std::to_string(each->magic()));
    out += text("\n#0-0 (%016llx) %d ranks\n", name, each->ranks());
    if (verbose) out += verbose_text(ranks.here);
    out += missing_text(ranks.missing) + mismatch_text(ranks.here, name);
  }
  return out;
}

}  // namespace standin
