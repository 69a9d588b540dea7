// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <gpu/runtime.hpp>

#include <base/error.hpp>

namespace berth::gpu {

namespace {

/// The functions that Berth uses. X(member, symbol); all are in CUDA 12 and 13.
#define BERTH_CUDA_TABLE(X)                           \
  X(runtime_get_version, cudaRuntimeGetVersion)       \
  X(driver_get_version, cudaDriverGetVersion)         \
  X(get_device_count, cudaGetDeviceCount)             \
  X(get_device, cudaGetDevice)                        \
  X(set_device, cudaSetDevice)                        \
  X(device_get_pci_bus_id, cudaDeviceGetPCIBusId)     \
  X(malloc, cudaMalloc)                               \
  X(free, cudaFree)                                   \
  X(pointer_get_attributes, cudaPointerGetAttributes) \
  X(stream_create, cudaStreamCreateWithFlags)         \
  X(stream_destroy, cudaStreamDestroy)                \
  X(stream_query, cudaStreamQuery)                    \
  X(stream_begin_capture, cudaStreamBeginCapture)     \
  X(stream_end_capture, cudaStreamEndCapture)         \
  X(graph_instantiate, cudaGraphInstantiateWithFlags) \
  X(graph_launch, cudaGraphLaunch)                    \
  X(graph_exec_destroy, cudaGraphExecDestroy)         \
  X(graph_destroy, cudaGraphDestroy)                  \
  X(memcpy_async, cudaMemcpyAsync)                    \
  X(event_create, cudaEventCreateWithFlags)           \
  X(event_destroy, cudaEventDestroy)                  \
  X(event_record, cudaEventRecord)                    \
  X(event_elapsed_time, cudaEventElapsedTime)         \
  X(get_last_error, cudaGetLastError)                 \
  X(get_error_name, cudaGetErrorName)                 \
  X(get_error_string, cudaGetErrorString)

struct Table {
#define BERTH_X(member, symbol) decltype(&::symbol) member = nullptr;
  BERTH_CUDA_TABLE(BERTH_X)
#undef BERTH_X
};

Table load(base::DynLib const& library) {
  Table table;
#define BERTH_X(member, symbol)                                                                   \
  table.member = reinterpret_cast<decltype(&::symbol)>(library.find(#symbol));                    \
  if (table.member == nullptr) {                                                                  \
    base::fail(Errc::unsupported,                                                                 \
               fmt::format("{} has no {}; CUDA 12 or newer is needed", library.path(), #symbol)); \
  }
  BERTH_CUDA_TABLE(BERTH_X)
#undef BERTH_X
  return table;
}

/// What cudaGetDeviceProperties begins with, the same in CUDA 12 and 13; what follows differs, so
/// the room for it is ample and never looked at.
struct Properties {
  char name[256];
  unsigned char uuid[16];
  unsigned char rest[8192];
};
static_assert(offsetof(cudaDeviceProp, uuid) == offsetof(Properties, uuid));
static_assert(sizeof(cudaDeviceProp) <= sizeof(Properties));
using GetProperties = cudaError_t (*)(Properties*, int);

/// The driver's question whether anybody uses a device; cuDevicePrimaryCtxGetState.
using ContextState = int (*)(int device, unsigned* flags, int* active);

std::string uuid_text(unsigned char const (&bytes)[16]) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < sizeof bytes; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

/// Bus ids as Linux writes them: lower case.
std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

Errc code_of(cudaError_t error) {
  switch (error) {
    case cudaErrorInsufficientDriver:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
      return Errc::no_driver;
    case cudaErrorNoDevice:
      return Errc::no_device;
    case cudaErrorMemoryAllocation:
      return Errc::out_of_memory;
    default:
      return Errc::device;
  }
}

class Cuda final : public Runtime {
 public:
  explicit Cuda(base::DynLib library) : library_(std::move(library)), cuda_(load(library_)) {
    for (char const* name : {"cudaGetDeviceProperties_v2", "cudaGetDeviceProperties"}) {
      if (get_properties_ == nullptr) {
        get_properties_ = reinterpret_cast<GetProperties>(library_.find(name));
      }
    }
    check(cuda_.runtime_get_version(&version_), "cudaRuntimeGetVersion");
  }

  std::string const& path() const override { return library_.path(); }
  int version() const override { return version_; }
  int driver_version() const override {
    int version = 0;
    return cuda_.driver_get_version(&version) == cudaSuccess ? version : 0;
  }

  std::vector<Device> devices() override {
    int count = 0;
    cudaError_t const result = cuda_.get_device_count(&count);
    if (code_of(result) == Errc::no_driver && result != cudaSuccess) refuse_driver(result);
    check(result, "cudaGetDeviceCount");
    std::vector<Device> all;
    all.reserve(static_cast<std::size_t>(count));
    for (int ordinal = 0; ordinal < count; ++ordinal) all.push_back(device(ordinal));
    return all;
  }

  std::optional<int> chosen_device() override {
    int current = 0;
    if (cuda_.get_device(&current) != cudaSuccess) {
      static_cast<void>(cuda_.get_last_error());
      return std::nullopt;
    }
    if (current != 0 || has_context(current)) return current;
    return std::nullopt;
  }

  void set_device(int ordinal) override { check(cuda_.set_device(ordinal), "cudaSetDevice"); }

  void* allocate(std::size_t bytes) override {
    void* memory = nullptr;
    check(cuda_.malloc(&memory, bytes), "cudaMalloc");
    return memory;
  }
  void free(void* memory) noexcept override { forget(cuda_.free(memory)); }

  Place place_of(void const* address) override {
    cudaPointerAttributes attributes{};
    if (cuda_.pointer_get_attributes(&attributes, address) != cudaSuccess) {
      static_cast<void>(cuda_.get_last_error());
      return Place::host;
    }
    bool const on_device =
        attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
    return on_device ? Place::device : Place::host;
  }

  Stream make_stream() override {
    cudaStream_t stream = nullptr;
    check(cuda_.stream_create(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    return stream;
  }
  void free_stream(Stream stream) noexcept override { forget(cuda_.stream_destroy(of(stream))); }
  bool is_done(Stream stream) override {
    cudaError_t const result = cuda_.stream_query(of(stream));
    if (result == cudaErrorNotReady) return false;
    check(result, "cudaStreamQuery");
    return true;
  }
  void copy(void* to, void const* from, std::size_t bytes, Stream stream) override {
    check(cuda_.memcpy_async(to, from, bytes, cudaMemcpyDefault, of(stream)), "cudaMemcpyAsync");
  }

  Event make_event() override {
    cudaEvent_t event = nullptr;
    check(cuda_.event_create(&event, cudaEventDefault), "cudaEventCreateWithFlags");
    return event;
  }
  void free_event(Event event) noexcept override {
    forget(cuda_.event_destroy(static_cast<cudaEvent_t>(event)));
  }
  void record(Event event, Stream stream) override {
    check(cuda_.event_record(static_cast<cudaEvent_t>(event), of(stream)), "cudaEventRecord");
  }
  double elapsed_us(Event start, Event end) override {
    float milliseconds = 0;
    check(cuda_.event_elapsed_time(&milliseconds, static_cast<cudaEvent_t>(start),
                                   static_cast<cudaEvent_t>(end)),
          "cudaEventElapsedTime");
    return static_cast<double>(milliseconds) * 1e3;
  }

  void begin_capture(Stream stream) override {
    check(cuda_.stream_begin_capture(of(stream), cudaStreamCaptureModeThreadLocal),
          "cudaStreamBeginCapture");
  }
  Graph end_capture(Stream stream) override {
    cudaGraph_t graph = nullptr;
    check(cuda_.stream_end_capture(of(stream), &graph), "cudaStreamEndCapture");
    cudaGraphExec_t ready = nullptr;
    cudaError_t const result = cuda_.graph_instantiate(&ready, graph, 0);
    forget(cuda_.graph_destroy(graph));
    check(result, "cudaGraphInstantiateWithFlags");
    return ready;
  }
  void launch(Graph graph, Stream stream) override {
    check(cuda_.graph_launch(static_cast<cudaGraphExec_t>(graph), of(stream)), "cudaGraphLaunch");
  }
  void free_graph(Graph graph) noexcept override {
    forget(cuda_.graph_exec_destroy(static_cast<cudaGraphExec_t>(graph)));
  }

 private:
  static cudaStream_t of(Stream stream) { return static_cast<cudaStream_t>(stream); }

  void check(cudaError_t result, char const* call) const {
    if (result == cudaSuccess) return;
    // Forgets it, unless it is one that stays for the life of the process.
    static_cast<void>(cuda_.get_last_error());
    base::fail(code_of(result), fmt::format("{}: {} ({})", call, cuda_.get_error_string(result),
                                            cuda_.get_error_name(result)));
  }

  /// For what is given up: its error must not surface in somebody's next call.
  void forget(cudaError_t result) const noexcept {
    if (result != cudaSuccess) static_cast<void>(cuda_.get_last_error());
  }

  [[noreturn]] void refuse_driver(cudaError_t result) const {
    static_cast<void>(cuda_.get_last_error());
    int const driver = driver_version();
    std::string const has = driver == 0 ? std::string("no NVIDIA driver answers")
                                        : fmt::format("the NVIDIA driver is for CUDA {}.{}",
                                                      driver / 1000, driver % 1000 / 10);
    base::fail(Errc::no_driver,
               fmt::format("{}; {} needs one for CUDA {}.{} ({})", has, library_.path(),
                           version_ / 1000, version_ % 1000 / 10, cuda_.get_error_name(result)));
  }

  Device device(int ordinal) const {
    Device device;
    device.ordinal = ordinal;
    std::array<char, 32> bus_id{};
    check(cuda_.device_get_pci_bus_id(bus_id.data(), static_cast<int>(bus_id.size()), ordinal),
          "cudaDeviceGetPCIBusId");
    device.bus_id = lower(bus_id.data());
    auto properties = std::make_unique<Properties>();
    if (get_properties_ != nullptr) {
      check(get_properties_(properties.get(), ordinal), "cudaGetDeviceProperties");
      properties->name[sizeof properties->name - 1] = '\0';
      device.model = properties->name;
      device.uuid = uuid_text(properties->uuid);
    }
    return device;
  }

  /// Asks the driver, where the program has loaded it: without a driver nobody has a context.
  static bool has_context(int ordinal) {
    base::DynLib const driver = base::DynLib::loaded("libcuda.so.1");
    auto const state = reinterpret_cast<ContextState>(driver.find("cuDevicePrimaryCtxGetState"));
    unsigned flags = 0;
    int active = 0;
    return state != nullptr && state(ordinal, &flags, &active) == 0 && active != 0;
  }

  base::DynLib library_;
  Table cuda_;
  GetProperties get_properties_ = nullptr;
  int version_ = 0;
};

}  // namespace

std::unique_ptr<Runtime> open(base::LibrarySearch const& search) {
  return std::make_unique<Cuda>(base::DynLib::open(search));
}

int header_version() noexcept {
  return CUDART_VERSION;
}

}  // namespace berth::gpu
