// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "state.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include <unistd.h>

namespace berth::standin::cuda {
namespace {

constexpr int most_devices = 16;

[[noreturn]] void refuse(char const* name, std::string const& text) {
  std::fprintf(stderr, "standin cudart: %s=%s cannot be read\n", name, text.c_str());
  std::abort();
}

long number(char const* name, std::string const& text) {
  char* end = nullptr;
  long const value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < 0) refuse(name, text);
  return value;
}

std::vector<std::string> split(std::string const& text, char mark) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, mark);) parts.push_back(part);
  return parts;
}

std::string value_of(char const* name, char const* fallback) {
  char const* const text = std::getenv(name);
  return text == nullptr ? fallback : text;
}

std::string rank_of_process() {
  for (char const* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (char const* const text = std::getenv(name)) return text;
  }
  return "0";
}

/// Two devices have one UUID only when host and bus id are the same.
void set_uuid(Device& device) {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  std::uint64_t hash = 1469598103934665603ULL;
  for (char const c : host + ("/" + device.bus_id))
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  std::memcpy(device.uuid, &hash, sizeof hash);
  hash = hash * 0x9e3779b97f4a7c15ULL + 1;
  std::memcpy(device.uuid + sizeof hash, &hash, sizeof hash);
}

std::vector<Device> all_devices() {
  constexpr char const* name = "STANDIN_CUDA_DEVICES";
  long const count = number(name, value_of(name, "1"));
  if (count > most_devices) refuse(name, std::to_string(count));
  std::vector<Device> all(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < all.size(); ++i) {
    char bus_id[16];
    std::snprintf(bus_id, sizeof bus_id, "0000:%02zx:00.0", 7 + 8 * i);
    all[i].bus_id = bus_id;
    set_uuid(all[i]);
  }
  return all;
}

/// As CUDA reads CUDA_VISIBLE_DEVICES: what follows something wrong is not visible.
std::vector<Device> visible_devices() {
  std::vector<Device> const all = all_devices();
  char const* const text = std::getenv("CUDA_VISIBLE_DEVICES");
  if (text == nullptr) return all;
  std::vector<Device> visible;
  for (std::string const& word : split(text, ',')) {
    char* end = nullptr;
    long const index = std::strtol(word.c_str(), &end, 10);
    bool const is_good = !word.empty() && *end == '\0' && index >= 0;
    if (!is_good || static_cast<std::size_t>(index) >= all.size()) break;
    visible.push_back(all[static_cast<std::size_t>(index)]);
  }
  return visible;
}

/// "1:sticky=700@40;*:count=35"
Faults wanted_faults() {
  constexpr char const* name = "STANDIN_CUDA_FAULTS";
  Faults faults;
  std::string const rank = rank_of_process();
  for (std::string const& one : split(value_of(name, ""), ';')) {
    std::size_t const colon = one.find(':');
    if (colon == std::string::npos) refuse(name, one);
    std::string const whose = one.substr(0, colon);
    std::string const fault = one.substr(colon + 1);
    std::size_t const at = fault.find('@');
    std::string const place = at == std::string::npos ? "" : fault.substr(at + 1);
    bool const is_mine = whose == "*" || whose == rank;
    if (fault.starts_with("count=")) {
      int const code = static_cast<int>(number(name, fault.substr(6)));
      if (is_mine) faults.count_error = code;
    } else if (fault.starts_with("sticky=") && !place.empty()) {
      int const code = static_cast<int>(number(name, fault.substr(7, at - 7)));
      long const from = number(name, place);
      if (is_mine) faults.sticky_error = code;
      if (is_mine) faults.sticky_at = from;
    } else if (fault.starts_with("malloc_fails@")) {
      long const which = number(name, place);
      if (is_mine) faults.failing_malloc = which;
    } else {
      refuse(name, one);
    }
  }
  return faults;
}

thread_local cudaError_t last_error = cudaSuccess;

}  // namespace

State::State() : devices(visible_devices()), faults(wanted_faults()) {}

State& state() {
  static State* const only = new State;
  return *only;
}

cudaError_t note(cudaError_t error) {
  if (error != cudaSuccess && error != cudaErrorNotReady) last_error = error;
  return error;
}

cudaError_t broken(bool is_look) {
  State& all = state();
  if (all.faults.sticky_error == 0) return cudaSuccess;
  if (is_look && ++all.looks >= all.faults.sticky_at) all.is_broken = true;
  return all.is_broken ? note(static_cast<cudaError_t>(all.faults.sticky_error)) : cudaSuccess;
}

int& current_device() {
  thread_local int device = 0;
  return device;
}

}  // namespace berth::standin::cuda

using namespace berth::standin::cuda;

extern "C" {

cudaError_t cudaPeekAtLastError() {
  return last_error;
}

cudaError_t cudaGetLastError() {
  // What broke the context stays.
  cudaError_t const error = last_error;
  if (!state().is_broken) last_error = cudaSuccess;
  return error;
}

char const* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define NAME(code) \
  case code:       \
    return #code;
    NAME(cudaSuccess)
    NAME(cudaErrorInvalidValue)
    NAME(cudaErrorMemoryAllocation)
    NAME(cudaErrorInsufficientDriver)
    NAME(cudaErrorNoDevice)
    NAME(cudaErrorInvalidDevice)
    NAME(cudaErrorInvalidResourceHandle)
    NAME(cudaErrorNotReady)
    NAME(cudaErrorIllegalAddress)
    NAME(cudaErrorLaunchFailure)
    NAME(cudaErrorStreamCaptureUnsupported)
    NAME(cudaErrorStreamCaptureInvalidated)
    NAME(cudaErrorIllegalState)
    NAME(cudaErrorHostMemoryAlreadyRegistered)
    NAME(cudaErrorHostMemoryNotRegistered)
#undef NAME
    default:
      return "unrecognized error code";
  }
}

char const* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInsufficientDriver:
      return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
    case cudaErrorIllegalAddress:
      return "an illegal memory access was encountered";
    default:
      return cudaGetErrorName(error);
  }
}

}  // extern "C"
