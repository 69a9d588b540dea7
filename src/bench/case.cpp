// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <new>
#include <numeric>

#include <fmt/format.h>

#include <base/units.hpp>
#include <bench/case.hpp>
#include <bench/statistics.hpp>
#include <pattern/pattern.hpp>

namespace berth::bench {
namespace {

/// Long enough that reading the clock and the end of a barrier do not matter.
constexpr double batch_us = 200;
constexpr int longest_batch = 4096;
/// Rounds between two looks at the clock, and so the fewest that are made.
constexpr int rounds_at_once = 20;
constexpr int most_rounds = 400;

constexpr std::size_t out_of_place = 0;
constexpr std::size_t in_place = 1;
constexpr std::size_t reference = 2;

double microseconds(base::nanoseconds time) {
  return static_cast<double>(time.count()) / 1e3;
}

/// What a link must carry for each byte of the result, as nccl-tests reckons it (PERFORMANCE.md).
double bus_factor(model::Collective collective, int ranks) {
  double const others = static_cast<double>(ranks - 1) / ranks;
  switch (collective) {
    case model::Collective::all_reduce:
      return 2 * others;
    case model::Collective::all_gather:
    case model::Collective::reduce_scatter:
    case model::Collective::all_to_all:
      return others;
    default:
      return 1;
  }
}

}  // namespace

std::size_t bytes_of(pattern::Coded const& what) {
  return std::max(in_elements(what), out_elements(what)) * size_of(what.code.type);
}

Case::Case(Communicator::Impl& impl, Plan const& plan, pattern::Coded const& what, double seconds)
    : impl_(impl), plan_(plan), what_(what), seconds_(seconds) {
  Errc code = Errc::ok;
  std::string text;
  try {
    make_variants();
  } catch (std::bad_alloc const&) {
    code = Errc::out_of_memory;
    text = fmt::format("bench: no memory for {} buffers of {}", plan.compare ? 4 : 3,
                       base::format_bytes(bytes_of(what)));
  } catch (Error const& error) {
    code = error.code();
    text = error.what();
  }
  impl_.agree(code, text);
  for (Buffer const& buffer : buffers_) buffer.rewrite(what.code.type, impl.rank());
}

void Case::make_variants() {
  std::size_t const size = size_of(what_.code.type);
  pattern::InPlace const shared = pattern::in_place(what_, impl_.rank());
  bool const on_device = impl_.on_device() != nullptr;
  auto const add = [&](std::size_t elements, bool device) -> Buffer const& {
    return device ? buffers_.emplace_back(elements * size, impl_)
                  : buffers_.emplace_back(elements * size);
  };
  coll::Backend* const backend = on_device ? impl_.on_device() : &impl_.backend();
  Buffer const& input = add(in_elements(what_), on_device);
  Buffer const& output = add(out_elements(what_), on_device);
  Buffer const& own = add(shared.elements, on_device);
  variants_.push_back({backend, on_device, input.data(), output.data(), &input});
  variants_.push_back(
      {backend, on_device, own.data() + shared.in * size, own.data() + shared.out * size, &own});
  if (plan_.compare) {
    // The reference takes host memory alone.
    Buffer const& source = on_device ? add(in_elements(what_), false) : input;
    Buffer const& result = add(out_elements(what_), false);
    variants_.push_back({&impl_.reference(), false, source.data(), result.data(), &source});
  }
  if (plan_.is_registered) {
    for (Buffer const* const buffer : {&input, &output, &own}) {
      registered_.push_back(impl_.on_device()->register_memory(buffer->data(), buffer->size()));
    }
  }
  if (what_.collective != model::Collective::broadcast) return;
  // A broadcast has one buffer.
  for (Variant& variant : variants_) variant.in = variant.out;
}

void Case::run(Variant const& variant) {
  impl_.run(*variant.backend, {what_.collective, variant.in, variant.out, what_.count,
                               what_.code.type, what_.code.op, root()});
}

void Case::check(Variant& variant, std::uint32_t round) {
  pattern::Coded coded = what_;
  coded.code.round = round;
  std::uint64_t wrong = 0;
  if (variant.is_on_device) {
    std::size_t const size = size_of(what_.code.type);
    std::vector<std::byte> host(std::max(in_elements(what_), out_elements(what_)) * size);
    pattern::fill_input(coded, impl_.rank(), host.data());
    copy(impl_, variant.in, host.data(), in_elements(what_) * size);
    run(variant);
    copy(impl_, host.data(), variant.out, out_elements(what_) * size);
    wrong = pattern::check_output(coded, impl_.rank(), host.data()).wrong;
  } else {
    pattern::fill_input(coded, impl_.rank(), variant.in);
    run(variant);
    wrong = pattern::check_output(coded, impl_.rank(), variant.out).wrong;
  }
  std::vector<std::uint64_t> all(static_cast<std::size_t>(impl_.size()));
  impl_.mpi().all_gather(&wrong, sizeof wrong, all.data(), impl_.watch());
  variant.wrong += std::accumulate(all.begin(), all.end(), std::size_t{0});
}

double Case::time_batch(Variant const& variant) {
  variant.rewritten->rewrite(what_.code.type, impl_.rank());
  impl_.run(impl_.backend(), {model::Collective::barrier});
  if (variant.is_on_device) return time_on_device(variant);
  base::nanoseconds const start = clock_.now();
  for (int i = 0; i < variant.batch; ++i) run(variant);
  return microseconds(clock_.now() - start) / variant.batch;
}

double Case::time_on_device(Variant const& variant) {
  gpu::Runtime& runtime = *impl_.runtime();
  nccl::DeviceBackend& device = *impl_.on_device();
  gpu::Stream const stream = device.own_stream();
  if (events_.empty()) events_ = {runtime.make_event(), runtime.make_event()};
  struct Finish {
    nccl::DeviceBackend& device;
    ~Finish() { device.finish(); }
  };
  {
    device.enqueue_on(stream);
    Finish const finish{device};
    if (plan_.graph > 0) runtime.begin_capture(stream);
    if (plan_.graph == 0) runtime.record(events_[0], stream);
    for (int i = 0; i < variant.batch; ++i) run(variant);
    if (plan_.graph == 0) runtime.record(events_[1], stream);
  }
  if (plan_.graph == 0) {
    device.wait(stream);
    return runtime.elapsed_us(events_[0], events_[1]) / variant.batch;
  }
  gpu::Graph const graph = runtime.end_capture(stream);
  runtime.record(events_[0], stream);
  for (int i = 0; i < plan_.graph; ++i) runtime.launch(graph, stream);
  runtime.record(events_[1], stream);
  device.wait(stream);
  runtime.free_graph(graph);
  return runtime.elapsed_us(events_[0], events_[1]) / variant.batch / plan_.graph;
}

Case::~Case() {
  for (void* const handle : registered_) impl_.on_device()->unregister_memory(handle);
  for (gpu::Event const event : events_) impl_.runtime()->free_event(event);
}

void Case::slowest(std::vector<double>& values) {
  std::vector<double> all(values.size() * static_cast<std::size_t>(impl_.size()));
  impl_.mpi().all_gather(values.data(), values.size() * sizeof(double), all.data(), impl_.watch());
  for (std::size_t i = 0; i < all.size(); ++i)
    values[i % values.size()] = std::max(values[i % values.size()], all[i]);
}

void Case::warm_up() {
  std::vector<double> times;
  for (Variant& variant : variants_) {
    variant.batch = std::max(plan_.warmup, 1);
    if (plan_.warmup > 0) time_batch(variant);
    times.push_back(time_batch(variant));
  }
  slowest(times);
  for (std::size_t i = 0; i < variants_.size(); ++i) {
    double const wanted = batch_us / std::max(times[i], 1e-3);
    variants_[i].batch =
        static_cast<int>(std::clamp(std::ceil(wanted), 1.0, double{longest_batch}));
  }
}

void Case::round(bool is_reversed) {
  std::size_t const variants = variants_.size();
  for (std::size_t i = 0; i < variants; ++i) {
    Variant& variant = variants_[is_reversed ? variants - 1 - i : i];
    variant.samples.push_back(time_batch(variant));
  }
}

void Case::run_rounds() {
  int done = 0;
  base::nanoseconds const start = clock_.now();
  for (;;) {
    int const next = std::min(plan_.iterations.value_or(most_rounds) - done, rounds_at_once);
    for (int i = 0; i < next; ++i, ++done) round(done % 2 == 1);
    if (done == plan_.iterations.value_or(most_rounds)) return;
    if (plan_.iterations) continue;
    // The clocks differ; the slowest rank decides for all whether there is time for more.
    std::vector<double> elapsed = {microseconds(clock_.now() - start)};
    slowest(elapsed);
    double const with_more = elapsed.front() * (done + rounds_at_once) / done;
    if (with_more > seconds_ * 1e6) return;
  }
}

model::Measured Case::measured(Variant const& variant) const {
  model::Measured result;
  result.time_us = summarize(variant.samples);
  result.wrong = variant.wrong;
  double const bytes = static_cast<double>(bytes_of(what_));
  if (result.time_us.median > 0) result.algbw_gbps = bytes / result.time_us.median / 1e3;
  result.busbw_gbps = result.algbw_gbps * bus_factor(what_.collective, impl_.size());
  return result;
}

model::Result Case::measure() {
  if (plan_.check) {
    std::uint32_t number = 1;
    for (Variant& variant : variants_) check(variant, number++);
  }
  warm_up();
  run_rounds();
  for (Variant& variant : variants_) slowest(variant.samples);

  model::Result result;
  result.collective = std::string(model::name(what_.collective));
  result.backend = std::string(variants_[out_of_place].backend->name());
  result.size_bytes = bytes_of(what_);
  result.count = what_.count;
  result.type = what_.code.type;
  result.op = what_.code.op;
  result.root = root();
  result.out_of_place = measured(variants_[out_of_place]);
  result.in_place = measured(variants_[in_place]);
  if (plan_.compare) {
    Variant const& other = variants_[reference];
    Ratio const ratio = paired_ratio(variants_[out_of_place].samples, other.samples);
    result.compare = model::Compared{std::string(other.backend->name()), measured(other),
                                     ratio.value, ratio.interval.low, ratio.interval.high};
  }
  return result;
}

}  // namespace berth::bench
