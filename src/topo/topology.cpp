// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstring>

#include <base/error.hpp>
#include <base/text.hpp>
#include <topo/topology.hpp>

namespace berth::topo {

void Topology::prepare() {
  if (hwloc_topology_init(&topology_) != 0) base::fail(Errc::system, "hwloc cannot start");
  // Objects that the cgroup forbids stay, because the devices beside them may still be used.
  hwloc_topology_set_flags(topology_, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  hwloc_topology_set_io_types_filter(topology_, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
}

Topology::Topology() {
  prepare();
  if (hwloc_topology_load(topology_) != 0) {
    int const error = errno;
    hwloc_topology_destroy(topology_);
    base::fail_errno("hwloc cannot read this machine", error);
  }
}

Topology::Topology(std::string const& xml) {
  prepare();
  // hwloc counts the terminating zero.
  bool const good =
      hwloc_topology_set_xmlbuffer(topology_, xml.c_str(), static_cast<int>(xml.size() + 1)) == 0 &&
      hwloc_topology_load(topology_) == 0;
  if (!good) {
    hwloc_topology_destroy(topology_);
    base::fail(Errc::bad_input, "hwloc cannot import it; it is damaged or truncated");
  }
}

Topology::~Topology() {
  hwloc_topology_destroy(topology_);
}

model::PuSet to_pus(hwloc_const_bitmap_t set) {
  constexpr int limit = 65536;
  model::PuSet pus;
  if (set == nullptr) return pus;
  for (int pu = hwloc_bitmap_first(set); pu >= 0 && pu < limit; pu = hwloc_bitmap_next(set, pu)) {
    pus.push_back(pu);
  }
  return pus;
}

int ancestor_index(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_obj_t object) {
  hwloc_obj_t const ancestor = hwloc_get_ancestor_obj_by_type(topology, type, object);
  return ancestor != nullptr ? static_cast<int>(ancestor->logical_index) : -1;
}

std::string info(hwloc_obj_t object, char const* key) {
  char const* const value = hwloc_obj_get_info_by_name(object, key);
  return value != nullptr ? base::printable(base::trim(value)) : std::string();
}

}  // namespace berth::topo
