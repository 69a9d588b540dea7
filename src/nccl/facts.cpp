// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nccl/bootstrap.hpp>

#include <base/error.hpp>

namespace berth::nccl {

namespace {

constexpr int ranks_per_root = 128;

std::string rank_at(std::size_t rank, Facts const& facts,
                    std::vector<std::string> const& host_names) {
  return fmt::format("rank {}@{}", rank, host_names[static_cast<std::size_t>(facts.host)]);
}

template <std::size_t N>
std::string_view view(char const (&text)[N]) {
  return {text, strnlen(text, N)};
}

/// NCCL refuses two ranks on one device of a host, where NCCL_HOSTID says what is a host.
void check_devices(std::vector<Facts> const& all, std::vector<std::string> const& host_names) {
  std::map<std::string, std::size_t> owners;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    Facts const& facts = all[rank];
    // Parts of one device (MIG) share its bus id and have a UUID of their own.
    std::string const key = fmt::format("{}|{}|{}|{}", facts.host, view(facts.host_id),
                                        view(facts.bus_id), view(facts.uuid));
    auto const [owner, is_first] = owners.try_emplace(key, rank);
    if (is_first) continue;
    base::fail(Errc::no_device,
               fmt::format("{} and {} both have device {}; start fewer ranks there, look at "
                           "CUDA_VISIBLE_DEVICES, or use BERTH_BACKEND=cpu",
                           rank_at(owner->second, all[owner->second], host_names),
                           rank_at(rank, facts, host_names), view(facts.bus_id)),
               static_cast<int>(rank));
  }
}

void check_comm_id(std::vector<Facts> const& all, std::vector<std::string> const& host_names) {
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].has_comm_id == 0) continue;
    base::fail(Errc::bad_configuration,
               fmt::format("{} has NCCL_COMM_ID set, but MPI carries the id; unset it, or allow it "
                           "with BERTH_ALLOW_NCCL_COMM_ID=1",
                           rank_at(rank, all[rank], host_names)),
               static_cast<int>(rank));
  }
}

void check_versions(std::vector<Facts> const& all, std::vector<std::string> const& host_names) {
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank].version == all[0].version) continue;
    base::fail(Errc::mismatch,
               fmt::format("{} has NCCL {}, {} has NCCL {}; give all the same with BERTH_NCCL_LIB "
                           "or LD_LIBRARY_PATH",
                           rank_at(0, all[0], host_names), version_text(all[0].version),
                           rank_at(rank, all[rank], host_names), version_text(all[rank].version)),
               static_cast<int>(rank));
  }
}

}  // namespace

void check_facts(std::vector<Facts> const& all, std::vector<std::string> const& host_names,
                 bool allow_comm_id) {
  check_versions(all, host_names);
  if (!allow_comm_id) check_comm_id(all, host_names);
  check_devices(all, host_names);
}

int first_rank_of(int block, int blocks, int ranks) {
  int const least = ranks / blocks;
  int const longer = ranks % blocks;
  return block * least + (block < longer ? block : longer);
}

int blocks_for(int ranks, bool is_scalable) {
  return is_scalable ? (ranks + ranks_per_root - 1) / ranks_per_root : 1;
}

}  // namespace berth::nccl
