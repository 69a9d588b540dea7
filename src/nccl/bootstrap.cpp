// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>

#include <fmt/format.h>
#include <nccl/abandon.hpp>
#include <nccl/api.hpp>
#include <nccl/bootstrap.hpp>
#include <nccl/identity.hpp>

#include <base/error.hpp>

namespace berth::nccl {

namespace {

/// Networks that are told to the other hosts; more interfaces than this are not looked at.
constexpr std::size_t most_networks = 32;

/// What the maker of an id tells everybody: one broadcast, so that a failing maker hangs nobody.
struct IdPacket {
  std::int32_t code = 0;  ///< an Errc
  std::int32_t version = 0;
  char text[256] = {};
  Id id;
};

struct Networks {
  std::uint32_t count = 0;
  struct One {
    char name[16];
    sys::IpAddress address;
    std::int32_t prefix;
  } all[most_networks] = {};
};

Facts own_facts(Setup const& setup) {
  Facts facts;
  facts.version = setup.nccl->version();
  facts.header = header_version();
  facts.host = setup.host_of_rank[static_cast<std::size_t>(setup.mpi->rank())];
  facts.has_comm_id = setup.wishes.comm_id.empty() ? 0 : 1;
  setup.device.bus_id.copy(facts.bus_id, sizeof facts.bus_id - 1);
  setup.device.uuid.copy(facts.uuid, sizeof facts.uuid - 1);
  setup.wishes.host_id.copy(facts.host_id, sizeof facts.host_id - 1);
  return facts;
}

/// Rank 0's interfaces that lead out of its host.
Networks networks_of_rank_0(Setup const& setup) {
  Networks networks;
  if (setup.mpi->rank() == 0) {
    for (sys::InterfaceAddress const& one : outward(sys::interface_addresses())) {
      if (networks.count == most_networks) break;
      Networks::One& told = networks.all[networks.count++];
      one.name.copy(told.name, sizeof told.name - 1);
      told.address = one.address;
      told.prefix = one.prefix;
    }
  }
  setup.mpi->broadcast(&networks, sizeof networks, 0, *setup.watch);
  return networks;
}

/// The first network of rank 0 that every rank has an interface in, and this rank's interface in
/// it; empty: there is none, and NCCL chooses.
std::string shared_interface(Setup const& setup) {
  Networks const networks = networks_of_rank_0(setup);
  std::vector<sys::InterfaceAddress> const own = outward(sys::interface_addresses());
  auto const interface_in = [&](Networks::One const& network) -> std::string {
    sys::InterfaceAddress const wanted{network.name, network.address, network.prefix};
    auto const found = std::find_if(own.begin(), own.end(),
                                    [&](auto const& one) { return same_network(one, wanted); });
    return found == own.end() ? std::string() : found->name;
  };
  std::uint32_t mine = 0;
  for (std::uint32_t i = 0; i < networks.count; ++i) {
    if (!interface_in(networks.all[i]).empty()) mine |= 1U << i;
  }
  std::vector<std::uint32_t> all(static_cast<std::size_t>(setup.mpi->size()));
  setup.mpi->all_gather(&mine, sizeof mine, all.data(), *setup.watch);
  std::uint32_t common = ~0U;
  for (std::uint32_t const one : all) common &= one;
  if (common == 0) return {};
  return interface_in(networks.all[static_cast<std::size_t>(std::countr_zero(common))]);
}

/// With several hosts NCCL gets the interface that all of them share, unless the user chose.
void choose_interface(Setup const& setup) {
  if (setup.host_names.size() < 2) return;
  std::string const interface = shared_interface(setup);  // collective: before anybody returns
  std::uint8_t const mine = setup.wishes.has_interface ? 1 : 0;
  std::vector<std::uint8_t> all(static_cast<std::size_t>(setup.mpi->size()));
  setup.mpi->all_gather(&mine, sizeof mine, all.data(), *setup.watch);
  bool const anybody_chose = std::any_of(all.begin(), all.end(), [](auto one) { return one != 0; });
  if (anybody_chose || interface.empty()) return;
  // "=" takes the name as it is, not as a prefix.
  setup.set_variable("NCCL_SOCKET_IFNAME", "=" + interface);
  setup.log->write(base::Level::info, "nccl: uses {}, which all hosts share", interface);
}

IdPacket make_id(Setup const& setup) {
  IdPacket packet;
  packet.version = setup.nccl->version();
  ncclUniqueId id;
  try {
    setup.nccl->check(setup.nccl->get_unique_id(&id), "ncclGetUniqueId");
    static_assert(sizeof id == sizeof packet.id.bytes);
    std::memcpy(packet.id.bytes.data(), &id, sizeof id);
    explicit_bzero(&id, sizeof id);
  } catch (Error const& error) {
    packet.code = static_cast<std::int32_t>(error.code());
    std::string(error.what()).copy(packet.text, sizeof packet.text - 1);
  }
  return packet;
}

/// The ids of all blocks, on every rank. @throws Error a maker's, the same on every rank
std::vector<Id> carry_ids(Setup const& setup, int blocks) {
  std::vector<Id> ids;
  for (int block = 0; block < blocks; ++block) {
    int const maker = first_rank_of(block, blocks, setup.mpi->size());
    IdPacket packet;
    if (setup.mpi->rank() == maker) packet = make_id(setup);
    setup.mpi->broadcast(&packet, sizeof packet, maker, *setup.watch);
    if (packet.code != 0) base::fail(static_cast<Errc>(packet.code), packet.text, maker);
    ids.push_back(packet.id);
  }
  return ids;
}

/// What this rank has against the roots; empty: nothing.
std::string objection_of(Setup const& setup, std::vector<Id> const& ids) {
  auto const host_of = [&](int rank) { return setup.host_of_rank[static_cast<std::size_t>(rank)]; };
  int const blocks = static_cast<int>(ids.size());
  for (int block = 0; block < blocks; ++block) {
    int const maker = first_rank_of(block, blocks, setup.mpi->size());
    if (host_of(maker) == host_of(setup.mpi->rank())) continue;
    auto const root = root_of(ids[static_cast<std::size_t>(block)]);
    if (!root) return "the id that NCCL made holds no IP address";
    std::string text = objection(*root, sys::interface_addresses());
    if (!text.empty()) return text;
  }
  return {};
}

void start(Setup const& setup, std::vector<Id> const& ids, ncclComm_t& comm) {
  Library const& library = *setup.nccl;
  std::vector<ncclUniqueId> raw(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    std::memcpy(&raw[i], ids[i].bytes.data(), sizeof raw[i]);
  }
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  int const size = setup.mpi->size();
  int const rank = setup.mpi->rank();
  ncclResult_t const result =
      raw.size() == 1 ? library.init_rank_config(&comm, size, raw[0], rank, &config)
                      : library.init_rank_scalable(&comm, size, rank, static_cast<int>(raw.size()),
                                                   raw.data(), &config);
  explicit_bzero(raw.data(), raw.size() * sizeof raw[0]);
  library.check(result, "ncclCommInitRankConfig");
}

void poll(Setup const& setup, ncclComm_t comm) {
  Library const& library = *setup.nccl;
  setup.watch->until_ready([&] {
    ncclResult_t state = ncclSuccess;
    library.check(library.get_async_error(comm, &state), "ncclCommGetAsyncError");
    library.check(state, "ncclCommInitRankConfig");
    return state == ncclSuccess;
  });
}

/// Waits for a verdict that names a lost rank; false when none comes.
bool is_named_soon(ledger::Watch& watch) {
  constexpr auto patience = std::chrono::milliseconds(1500);
  auto const end = std::chrono::steady_clock::now() + patience;
  try {
    watch.until_ready(
        [&] { return watch.has_verdict() || std::chrono::steady_clock::now() > end; });
  } catch (Error const&) {
    return true;
  }
  return watch.has_verdict();
}

}  // namespace

void tell(Setup const& setup, Error const& error) {
  if (setup.watch->has_verdict()) return;
  if (error.code() == Errc::lost && is_named_soon(*setup.watch)) return;
  setup.report(error.code(), error.what());
}

void* connect(Setup const& setup) {
  Facts const own = own_facts(setup);
  std::vector<Facts> all(static_cast<std::size_t>(setup.mpi->size()));
  setup.mpi->all_gather(&own, sizeof own, all.data(), *setup.watch);
  check_facts(all, setup.host_names, setup.wishes.allow_comm_id);
  choose_interface(setup);

  int const blocks = blocks_for(setup.mpi->size(), setup.nccl->init_rank_scalable != nullptr);
  std::vector<Id> const ids = carry_ids(setup, blocks);
  // The completing step: nobody enters NCCL, where a missing rank is waited for without a word,
  // before everybody has the ids and can use them.
  std::string const text = objection_of(setup, ids);
  mpi::Agreed const agreed =
      setup.mpi->agree(text.empty() ? Errc::ok : Errc::bad_configuration, text, *setup.watch);
  if (agreed.code != Errc::ok) base::fail(agreed.code, agreed.text, agreed.rank);

  ncclComm_t comm = nullptr;
  try {
    start(setup, ids, comm);
    poll(setup, comm);
  } catch (Error const& error) {
    tell(setup, error);
    abandon(setup.nccl, comm, *setup.log);
    setup.watch->check();
    throw;
  }
  return comm;
}

}  // namespace berth::nccl
