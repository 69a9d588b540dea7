// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include <fmt/format.h>

#include <base/error.hpp>
#include <base/names.hpp>
#include <base/units.hpp>
#include <cpu/mismatch.hpp>
#include <cpu/pairs.hpp>

namespace berth::cpu {
namespace {

/// Pieces of a stream under way: one is copied while another travels.
constexpr std::size_t depth = 2;
/// Buffers that are kept from one exchange to the next.
constexpr std::size_t spare_max = 16;
constexpr int pair_step = 1 << 23;

std::size_t bytes_of(coll::Message const& message) {
  return message.count * size_of(message.type);
}

std::string amount(std::size_t count, Type type) {
  return fmt::format("{} {}", base::format_count(count), base::name(type));
}

}  // namespace

Pairs::Pairs(Context const& context, Mail const& mail)
    : context_(context),
      mail_(mail),
      piece_bytes_(
          std::max(std::min(context.tuning.slice_bytes, mail.capacity()) / 64, std::size_t{1}) *
          64),
      sent_(static_cast<std::size_t>(context.topology.size())),
      received_(static_cast<std::size_t>(context.topology.size())) {}

void Pairs::exchange(std::vector<coll::Message> const& messages) {
  copy_own(messages);
  std::vector<Stream> streams = streams_of(messages);
  if (!streams.empty() && context_.lane == nullptr) {
    base::fail(Errc::internal, "cpu: messages between ranks and no lane between them");
  }
  for (Stream& stream : streams) move(stream);
  for (;;) {
    auto const open = std::find_if(streams.begin(), streams.end(),
                                   [](Stream const& stream) { return !stream.is_done(); });
    if (open == streams.end()) break;
    context_.wait(
        [&] {
          return std::any_of(open, streams.end(), [&](Stream& stream) { return can_move(stream); });
        },
        open->peer);
    for (auto stream = open; stream != streams.end(); ++stream) move(*stream);
    context_.step();
  }
  if (spare_.size() > spare_max) spare_.resize(spare_max);
}

std::vector<Pairs::Stream> Pairs::streams_of(std::vector<coll::Message> const& messages) const {
  // Nearest peers first, so that not all ranks begin with the same one.
  std::map<std::pair<int, bool>, Stream> found;
  int const size = context_.topology.size();
  for (coll::Message const& message : messages) {
    if (message.peer == context_.rank) continue;
    int const distance =
        message.is_send ? message.peer - context_.rank : context_.rank - message.peer;
    Stream& stream = found[{(distance + size) % size, message.is_send}];
    stream.peer = message.peer;
    stream.is_send = message.is_send;
    stream.messages.push_back(&message);
  }
  std::vector<Stream> streams;
  streams.reserve(found.size());
  for (auto& [key, stream] : found) streams.push_back(std::move(stream));
  return streams;
}

void Pairs::copy_own(std::vector<coll::Message> const& messages) const {
  std::vector<coll::Message const*> sends;
  std::vector<coll::Message const*> receives;
  for (coll::Message const& message : messages) {
    if (message.peer != context_.rank) continue;
    (message.is_send ? sends : receives).push_back(&message);
  }
  if (sends.size() != receives.size()) {
    raise(
        {Errc::mismatch, context_.rank, "mismatch",
         fmt::format("rank {} has {} sends to itself, but {} receives; every send needs a receive",
                     context_.rank, sends.size(), receives.size())},
        -1);
  }
  for (std::size_t i = 0; i < sends.size(); ++i) {
    if (sends[i]->count != receives[i]->count || sends[i]->type != receives[i]->type) {
      report(*receives[i], descriptor(*sends[i]));
    }
    std::size_t const bytes = bytes_of(*sends[i]);
    if (bytes > 0) std::memmove(receives[i]->to, sends[i]->from, bytes);
  }
}

bool Pairs::can_move(Stream& stream) const {
  return !stream.is_done() && mail_.test(stream.parcels.front()->transfer);
}

void Pairs::move(Stream& stream) {
  while (!stream.parcels.empty() && mail_.test(stream.parcels.front()->transfer)) {
    if (!stream.is_send) take(stream, *stream.parcels.front());
    advance(stream, stream.completed);
    spare_.push_back(std::move(stream.parcels.front()));
    stream.parcels.erase(stream.parcels.begin());
  }
  while (stream.parcels.size() < depth && stream.started.message < stream.messages.size()) {
    start(stream);
    advance(stream, stream.started);
  }
}

std::unique_ptr<Pairs::Parcel> Pairs::new_parcel() {
  if (spare_.empty()) {
    auto parcel = std::make_unique<Parcel>();
    parcel->buffer.allocate(mail_);
    return parcel;
  }
  std::unique_ptr<Parcel> parcel = std::move(spare_.back());
  spare_.pop_back();
  return parcel;
}

std::size_t Pairs::piece_at(coll::Message const& message, std::size_t begin) const {
  return std::min(piece_bytes_, bytes_of(message) - begin);
}

void Pairs::advance(Stream const& stream, Place& place) const {
  place.begin += piece_bytes_;
  if (place.begin < bytes_of(*stream.messages[place.message])) return;
  ++place.message;
  place.begin = 0;
}

model::Descriptor Pairs::descriptor(coll::Message const& message) const {
  ledger::Ledger const* const ledger = context_.ledger;
  std::uint64_t const number =
      ledger == nullptr ? 0 : ledger->own().progress.entered.load(std::memory_order_relaxed);
  return {number,
          message.count,
          model::Collective::send_recv,
          message.type,
          Op::sum,
          Backend::cpu,
          message.peer,
          0};
}

void Pairs::start(Stream& stream) {
  std::unique_ptr<Parcel>& parcel = stream.parcels.emplace_back(new_parcel());
  if (!stream.is_send) {
    parcel->transfer = mail_.receive(parcel->buffer, stream.peer);
    return;
  }
  coll::Message const& message = *stream.messages[stream.started.message];
  std::size_t const begin = stream.started.begin;
  std::size_t const bytes = piece_at(message, begin);
  if (begin == 0) ++sent_[static_cast<std::size_t>(stream.peer)];
  Mail::Header header;
  header.operation = descriptor(message);
  header.sequence = sent_[static_cast<std::size_t>(stream.peer)];
  header.fingerprint = model::fingerprint(header.operation);
  header.chunk = static_cast<std::uint32_t>(begin / piece_bytes_);
  header.step = pair_step;
  Mail::seal(parcel->buffer, header);
  if (bytes > 0) {
    std::memcpy(parcel->buffer.payload(), static_cast<std::byte const*>(message.from) + begin,
                bytes);
  }
  parcel->transfer = mail_.send(parcel->buffer, bytes, stream.peer);
}

void Pairs::take(Stream const& stream, Parcel const& parcel) {
  coll::Message const& message = *stream.messages[stream.completed.message];
  std::size_t const begin = stream.completed.begin;
  if (begin == 0) ++received_[static_cast<std::size_t>(stream.peer)];
  Mail::Header const header = Mail::header(parcel.buffer);
  bool const is_message = header.operation.collective == model::Collective::send_recv;
  if (!is_message || header.operation.count != message.count ||
      header.operation.type != message.type) {
    report(message, header.operation);
  }
  if (header.sequence != received_[static_cast<std::size_t>(stream.peer)] ||
      header.chunk != static_cast<std::uint32_t>(begin / piece_bytes_)) {
    base::fail(Errc::internal, "cpu: a message came out of order", stream.peer);
  }
  std::size_t const bytes = piece_at(message, begin);
  if (bytes == 0) return;
  std::memcpy(static_cast<std::byte*>(message.to) + begin, parcel.buffer.payload(), bytes);
}

void Pairs::report(coll::Message const& own, model::Descriptor const& theirs) const {
  if (theirs.collective != model::Collective::send_recv) {
    raise(mismatch(theirs.number, {own.peer, theirs}, {context_.rank, descriptor(own)}), own.peer);
  }
  raise({Errc::mismatch, own.peer, "mismatch",
         fmt::format("rank {} sends {} to rank {}, which receives {} from it; both must name the "
                     "same count and type",
                     own.peer, amount(theirs.count, theirs.type), context_.rank,
                     amount(own.count, own.type))},
        own.peer);
}

void Pairs::raise(ledger::Verdict const& verdict, int peer) const {
  // A peer on another host waits for this rank and perhaps for nobody else.
  bool const is_elsewhere = peer >= 0 && context_.topology.place(peer).host != context_.host;
  if (is_elsewhere) context_.lane->tell(peer, Error(verdict.code, verdict.rank, verdict.text));
  context_.raise(verdict);
}

}  // namespace berth::cpu
