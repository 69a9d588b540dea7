// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "call.hpp"
#include "devices.hpp"
#include "memory.hpp"
#include "settings.hpp"
#include "standin_kernels.hpp"

namespace berth::standin {
namespace {

struct HostVersion {
  void (*run)(dim3, dim3, void**) = nullptr;
  std::optional<std::vector<std::size_t>> sizes;
};

struct Variable {
  std::size_t size = 0;
  void** binary = nullptr;
  std::map<int, std::byte*> places;  // by device, made when first asked for
};

struct Programs {
  std::mutex mutex;
  std::map<std::string, HostVersion> host_versions;
  std::map<void const*, std::unique_ptr<Kernel>> kernels;  // by symbol
  std::map<void const*, Variable> variables;
};
Programs& programs() {
  static auto* const only = new Programs;
  return *only;
}

HostVersion host_version(std::string const& name) {
  std::lock_guard const lock(programs().mutex);
  auto const found = programs().host_versions.find(name);
  bool const there = found != programs().host_versions.end() && found->second.run != nullptr;
  require(there, cudaErrorInvalidDeviceFunction);
  return found->second;
}

void check(LaunchShape const& shape) {
  auto const [grid, block] = shape;
  bool const some =
      grid.x > 0 && grid.y > 0 && grid.z > 0 && block.x > 0 && block.y > 0 && block.z > 0;
  bool const fits = grid.y <= 65535 && grid.z <= 65535 && grid.x <= 2147483647U &&
                    block.x <= 1024 && block.y <= 1024 && block.z <= 64 &&
                    block.x * block.y * block.z <= 1024;
  require(some && fits, cudaErrorInvalidConfiguration);
}

// The arguments of one launch, copied while the caller still has them.
class Arguments {
 public:
  Arguments(void** from, std::vector<std::size_t> const& sizes) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      std::size_t const words = (sizes[i] + sizeof(Word) - 1) / sizeof(Word);
      values_.push_back(std::make_unique<Word[]>(words));
      std::memcpy(values_.back().get(), from[i], sizes[i]);
      pointers_.push_back(values_.back().get());
    }
  }
  void** pointers() { return pointers_.data(); }

 private:
  struct alignas(16) Word {
    std::byte bytes[16];
  };
  std::vector<std::unique_ptr<Word[]>> values_;
  std::vector<void*> pointers_;
};

}  // namespace

Kernel const& find_kernel(void const* any) {
  std::lock_guard const lock(programs().mutex);
  auto const found = programs().kernels.find(any);
  if (found != programs().kernels.end()) return *found->second;
  for (auto const& [symbol, kernel] : programs().kernels) {
    if (kernel.get() == any) return *kernel;
  }
  fail(cudaErrorInvalidDeviceFunction);
}

Step kernel_step(void const* kernel, LaunchShape const& shape, void** arguments,
                 bool& borrows_arguments) {
  HostVersion const version = host_version(find_kernel(kernel).name);
  check(shape);
  borrows_arguments = !version.sizes;
  Step step;
  step.type = cudaGraphNodeTypeKernel;
  if (version.sizes) {
    require(arguments != nullptr || version.sizes->empty());
    auto const kept = std::make_shared<Arguments>(arguments, *version.sizes);
    step.run = [run = version.run, shape, kept] {
      NoCallsHere const none;
      run(shape.grid, shape.block, kept->pointers());
    };
  } else {
    step.run = [run = version.run, shape, arguments] {
      NoCallsHere const none;
      run(shape.grid, shape.block, arguments);
    };
  }
  return step;
}

void launch(void const* kernel, LaunchShape const& shape, void** arguments, Stream& stream) {
  count_use();
  require(stream.device == current_device(), cudaErrorInvalidResourceHandle);
  bool borrows_arguments = false;
  Step step = kernel_step(kernel, shape, arguments, borrows_arguments);
  if (borrows_arguments) {
    auto const lock = lock_engine();
    if (stream.capture) spoil(*stream.capture, cudaErrorStreamCaptureUnsupported);
  }
  WorkPtr const work = submit(stream, std::move(step));
  if (work && borrows_arguments) work->wait();
}

std::byte* in_variable(void const* symbol, std::size_t offset, std::size_t count) {
  std::lock_guard const lock(programs().mutex);
  auto const found = programs().variables.find(symbol);
  require(found != programs().variables.end(), cudaErrorInvalidSymbol);
  Variable& variable = found->second;
  require(offset <= variable.size && count <= variable.size - offset);
  std::byte*& place = variable.places[current_device()];
  if (place == nullptr) {
    place = static_cast<std::byte*>(allocate_device(variable.size, true));
  }
  return place + offset;
}

}  // namespace berth::standin

using namespace berth::standin;

void standin_register_kernel(char const* name, void (*run)(dim3, dim3, void**)) {
  std::lock_guard const lock(programs().mutex);
  programs().host_versions[name].run = run;
}

void standin_set_kernel_parameters(char const* name, size_t count, size_t const* sizes) {
  std::lock_guard const lock(programs().mutex);
  programs().host_versions[name].sizes.emplace(sizes, sizes + count);
}

cudaError_t cudaGetSymbolAddress(void** at, void const* symbol) {
  return call([&] {
    require(at != nullptr);
    *at = in_variable(symbol, 0, 0);
  });
}

cudaError_t cudaGetSymbolSize(size_t* size, void const* symbol) {
  return call([&] {
    require(size != nullptr);
    std::lock_guard const lock(programs().mutex);
    auto const found = programs().variables.find(symbol);
    require(found != programs().variables.end(), cudaErrorInvalidSymbol);
    *size = found->second.size;
  });
}

// What nvcc puts into every program. These functions have no public header.
extern "C" {

void** __cudaRegisterFatBinary(void* binary) {
  return new void*(binary);
}

void __cudaRegisterFatBinaryEnd(void**) {}

char __cudaInitModule(void**) {
  return 1;
}

void __cudaRegisterFunction(void** binary, char const* symbol, char*, char const* name, int, uint3*,
                            uint3*, dim3*, dim3*, int*) {
  auto kernel = std::make_unique<Kernel>(Kernel{name, symbol, binary});
  std::lock_guard const lock(programs().mutex);
  programs().kernels[symbol] = std::move(kernel);
}

void __cudaRegisterVar(void** binary, char* symbol, char*, char const*, int, size_t size, int,
                       int) {
  Variable variable;
  variable.size = size;
  variable.binary = binary;
  std::lock_guard const lock(programs().mutex);
  programs().variables[symbol] = std::move(variable);
}

// Never freed: the variable lives as long as the program.
void __cudaRegisterManagedVar(void** binary, void** address, char*, char const*, int, size_t size,
                              int, int) {
  *address = allocate_managed(size, cudaMemAttachGlobal);
  Variable variable;
  variable.size = size;
  variable.binary = binary;
  for (int device = 0; device < device_count(); ++device) {
    variable.places[device] = static_cast<std::byte*>(*address);
  }
  std::lock_guard const lock(programs().mutex);
  programs().variables[*address] = std::move(variable);
}

// Also called at exit, when streams may be stuck: it waits for nothing.
void __cudaUnregisterFatBinary(void** binary) {
  std::lock_guard const lock(programs().mutex);
  std::erase_if(programs().kernels,
                [&](auto const& entry) { return entry.second->binary == binary; });
  std::erase_if(programs().variables,
                [&](auto const& entry) { return entry.second.binary == binary; });
  delete binary;
}
}
