// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <base/dynlib.hpp>

/// Devices, their memory and their streams, without a vendor's names. CUDA is opened while the
/// program runs (cuda.cpp); built without its headers nothing can be opened (without_cuda.cpp).
namespace berth::gpu {

/// A queue of work of one device: cudaStream_t. Null is the device's default stream.
using Stream = void*;
/// A mark in a stream: cudaEvent_t.
using Event = void*;
/// Recorded work that can be started again: cudaGraphExec_t.
using Graph = void*;

/// A device as this process sees it.
struct Device {
  int ordinal = -1;    ///< number in this process
  std::string bus_id;  ///< "0000:1b:00.0"
  std::string uuid;    ///< "GPU-..."; a part of a device (MIG) has its own
  std::string model;   ///< name
};

/// Where an address lies.
enum class Place { host, device };

/// A vendor's runtime library, opened. Every call is local; none waits for a device. Errors
/// of the library are thrown as Errc::no_driver, no_device, out_of_memory or device, with its
/// words. The device of a call is the calling thread's.
class Runtime {
 public:
  virtual ~Runtime() = default;

  [[nodiscard]] virtual std::string const& path() const = 0;  ///< file of the library
  [[nodiscard]] virtual int version() const = 0;              ///< 13000 for 13.0
  [[nodiscard]] virtual int driver_version() const = 0;       ///< 0: no driver

  /// Usable devices, by ordinal. @throws Error no_driver, no_device
  [[nodiscard]] virtual std::vector<Device> devices() = 0;
  /// The device that the program has made its own: a context lives on it, or it was set. Absent
  /// where nothing shows that anybody chose.
  [[nodiscard]] virtual std::optional<int> chosen_device() = 0;
  virtual void set_device(int ordinal) = 0;

  /// Device memory, owned by the caller until free(). Never null for bytes > 0.
  [[nodiscard]] virtual void* allocate(std::size_t bytes) = 0;
  virtual void free(void* memory) noexcept = 0;
  /// Managed memory counts as device memory.
  [[nodiscard]] virtual Place place_of(void const* address) = 0;

  /// A stream that does not wait for the default one.
  [[nodiscard]] virtual Stream make_stream() = 0;
  virtual void free_stream(Stream stream) noexcept = 0;
  /// True when everything enqueued is done.
  [[nodiscard]] virtual bool is_done(Stream stream) = 0;
  /// Enqueues a copy between any two places.
  virtual void copy(void* to, void const* from, std::size_t bytes, Stream stream) = 0;

  [[nodiscard]] virtual Event make_event() = 0;
  virtual void free_event(Event event) noexcept = 0;
  virtual void record(Event event, Stream stream) = 0;
  /// Microseconds between two events that are done.
  [[nodiscard]] virtual double elapsed_us(Event start, Event end) = 0;

  virtual void begin_capture(Stream stream) = 0;
  /// The work since begin_capture, owned by the caller until free_graph().
  [[nodiscard]] virtual Graph end_capture(Stream stream) = 0;
  virtual void launch(Graph graph, Stream stream) = 0;
  virtual void free_graph(Graph graph) noexcept = 0;
};

/// Where CUDA keeps its libraries: the loader's folders, then those of the toolkits that the
/// environment names, then the usual ones.
/// @param toolkits values of CUDA_HOME, CUDA_PATH and the like; empty ones are skipped
std::vector<std::string> library_folders(std::vector<std::string> const& toolkits);

/// How the CUDA runtime is searched. `file` is BERTH_CUDART_LIB's value.
base::LibrarySearch cuda_search(std::string const& file, std::vector<std::string> const& toolkits);

/// Opens the CUDA runtime. Does not touch a device.
/// @throws Error unsupported: built without CUDA, not found, too old; bad_configuration
std::unique_ptr<Runtime> open(base::LibrarySearch const& search);

/// Version of the CUDA headers that this build has; 0: none.
int header_version() noexcept;

}  // namespace berth::gpu
