// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <topo/nics.hpp>

namespace berth::topo {
namespace {

NicFacts* find_interface(std::vector<NicFacts>& facts, std::string const& name) {
  auto const found = std::find_if(facts.begin(), facts.end(), [&](NicFacts const& one) {
    return !one.verbs && one.nic.name == name;
  });
  return found != facts.end() ? &*found : nullptr;
}

// Bonds carry the addresses of their slaves, VLANs and bridges those of their parents.
void hand_down_addresses(std::vector<NicFacts>& facts) {
  constexpr int deepest = 4;  // a VLAN of a bridge of a bond, and one to spare
  for (int round = 0; round < deepest; ++round) {
    for (NicFacts const& upper : facts) {
      if (!upper.reach) continue;
      for (std::string const& name : upper.below) {
        NicFacts* const lower = find_interface(facts, name);
        if (lower != nullptr && lower->reach < upper.reach) lower->reach = upper.reach;
      }
    }
  }
}

std::string_view state_name(int state) {
  switch (state) {
    case 1:
      return "down";
    case 2:
      return "initializing";
    case 3:
      return "armed, not active";
    default:
      return "not active";
  }
}

// Reason why a verbs device cannot be used; empty: it can, and its speed is set.
std::string judge_ports(NicFacts& one) {
  // A virtual function or EFA may have no port to tell of.
  bool const told = std::any_of(one.ports.begin(), one.ports.end(),
                                [](PortFacts const& port) { return port.state != 0; });
  if (!told) return {};
  std::string reason;
  for (PortFacts const& port : one.ports) {
    if (port.state != 4) {
      if (reason.empty())
        reason = fmt::format("port {} is {}", port.number, state_name(port.state));
    } else if (port.gbps && *port.gbps <= 0) {
      if (reason.empty()) reason = fmt::format("port {} has speed 0", port.number);
    } else {
      return {};
    }
  }
  return reason;
}

double fastest_port(NicFacts const& one) {
  double best = 0;
  for (PortFacts const& port : one.ports) {
    if (port.state == 4 && port.gbps) best = std::max(best, *port.gbps);
  }
  return best;
}

std::string judge_interface(NicFacts const& one) {
  if (one.up && !*one.up) return "down";
  if (one.no_speed) return "speed 0";
  // Slingshot and its like carry data without an address.
  if (one.slingshot || !one.reach) return {};
  if (*one.reach == sys::Reach::none) return "no address";
  if (*one.reach == sys::Reach::link_local) return "only a link-local address";
  return {};
}

// What stands in for it: the physical function of a virtual one, the parts of a bond.
std::string stand_in(NicFacts const& one, std::vector<NicFacts> const& facts) {
  if (!one.function_of.empty()) {
    for (NicFacts const& other : facts) {
      if (other.verbs == one.verbs && other.nic.bus_id == one.function_of) {
        return "virtual function of " + other.nic.name;
      }
    }
  }
  std::string names;
  for (std::string const& name : one.below) {
    bool const hardware = std::any_of(facts.begin(), facts.end(), [&](NicFacts const& other) {
      return !other.verbs && other.nic.name == name &&
             (other.refusal.empty() || !other.below.empty());
    });
    if (hardware) names += (names.empty() ? "" : ", ") + name;
  }
  return names.empty() ? std::string() : "made of " + names;
}

std::string judge(NicFacts& one, std::vector<NicFacts> const& facts) {
  std::string reason = stand_in(one, facts);
  if (reason.empty()) reason = one.refusal;
  if (reason.empty()) reason = one.verbs ? judge_ports(one) : judge_interface(one);
  return reason;
}

}  // namespace

bool is_virtual_name(std::string_view name) {
  constexpr std::array prefixes{
      std::string_view("docker"), std::string_view("veth"), std::string_view("br-"),
      std::string_view("virbr"),  std::string_view("cni"),  std::string_view("tun"),
      std::string_view("tap"),    std::string_view("vnet"), std::string_view("flannel"),
      std::string_view("cali"),   std::string_view("dummy")};
  if (name == "lo") return true;
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view prefix) {
    return name.substr(0, prefix.size()) == prefix;
  });
}

void choose_nics(std::vector<NicFacts> facts, model::Node& node) {
  hand_down_addresses(facts);
  std::vector<std::string> reasons;
  reasons.reserve(facts.size());
  for (NicFacts& one : facts) reasons.push_back(judge(one, facts));
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (facts[i].verbs || !reasons[i].empty() || facts[i].nic.bus_id.empty()) continue;
    for (std::size_t j = 0; j < facts.size(); ++j) {
      if (!facts[j].verbs || facts[j].nic.bus_id != facts[i].nic.bus_id) continue;
      // ib0 is no second card beside mlx5_0. When that one's port is not active and nothing is
      // known of the interface itself, it has no link either.
      if (reasons[j].empty() || !facts[i].up) reasons[i] = "the interface of " + facts[j].nic.name;
    }
  }
  for (std::size_t i = 0; i < facts.size(); ++i) {
    model::Nic& nic = facts[i].nic;
    if (!reasons[i].empty()) {
      node.unused_nics.push_back({nic.name, reasons[i]});
      continue;
    }
    nic.fabric = facts[i].verbs || facts[i].slingshot;
    if (facts[i].verbs) nic.gbps = std::max(nic.gbps, fastest_port(facts[i]));
    node.nics.push_back(std::move(nic));
  }
  auto const by_name = [](auto const& a, auto const& b) { return a.name < b.name; };
  std::stable_sort(node.nics.begin(), node.nics.end(), by_name);
  std::stable_sort(node.unused_nics.begin(), node.unused_nics.end(), by_name);
}

}  // namespace berth::topo
