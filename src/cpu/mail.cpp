// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include <base/error.hpp>
#include <cpu/mail.hpp>
#include <cpu/mismatch.hpp>

namespace berth::cpu {

Mail::Mail(Context const& context, Arrivals const& arrivals)
    : context_(context),
      arrivals_(arrivals),
      // Partial results of 16-bit floats take twice the room.
      capacity_(2 *
                std::max({context.segment.result_bytes(), context.tuning.flat_bytes_max_2,
                          context.tuning.flat_bytes_max_4, context.tuning.flat_bytes_max_many})) {}

void Mail::seal(Buffer& message, std::uint32_t chunk, int step) const {
  seal(message,
       {arrivals_.sequence(), arrivals_.fingerprint(), chunk, step, arrivals_.operation(), {}});
}

void Mail::seal(Buffer& message, Header const& header) {
  std::memcpy(message.memory_.get(), &header, sizeof header);
}

Mail::Transfer Mail::send(Buffer& message, std::size_t bytes, int to) const {
  Transfer const transfer{context_.lane->send(to, message.memory_.get(), header_bytes + bytes), to,
                          &message};
  ++message.open_;
  return transfer;
}

Mail::Transfer Mail::receive(Buffer& into, int from) const {
  Transfer const transfer{
      context_.lane->receive(from, into.memory_.get(), header_bytes + capacity_), from, &into};
  ++into.open_;
  return transfer;
}

bool Mail::test(Transfer& transfer) const {
  if (!transfer.is_open()) return true;
  if (!context_.lane->test(transfer.ticket)) return false;
  --transfer.buffer->open_;
  transfer.ticket = -1;
  return true;
}

void Mail::complete(Transfer& transfer) const {
  if (transfer.is_open()) context_.wait([&] { return test(transfer); }, transfer.peer);
}

void Mail::complete_all(std::vector<Transfer>& transfers) const {
  for (Transfer& transfer : transfers) complete(transfer);
  transfers.clear();
}

Mail::Header Mail::header(Buffer const& message) {
  Header header;
  std::memcpy(&header, message.memory_.get(), sizeof header);
  return header;
}

std::byte* Mail::open(Buffer const& message, int from, std::uint32_t chunk, int step) const {
  Header const got = header(message);
  if (got.sequence != arrivals_.sequence() || got.fingerprint != arrivals_.fingerprint()) {
    report(got, from);
  }
  if (got.chunk != chunk || got.step != step) {
    base::fail(Errc::internal, "cpu: a message between hosts came out of order", from);
  }
  return message.payload();
}

void Mail::report(Header const& header, int from) const {
  // A message that nobody took may be of an earlier operation; the own part in that one counts.
  Doing self{context_.rank, arrivals_.operation()};
  std::uint64_t const number = header.operation.number;
  if (number < self.operation->number && context_.ledger != nullptr) {
    if (auto const then = context_.ledger->recorded(context_.local, number)) self.operation = then;
  }
  Doing const other{from, header.operation};
  // Two ranks, two opinions: the higher one is named, so that both name the same.
  context_.raise(self.rank > other.rank ? mismatch(number, self, other)
                                        : mismatch(number, other, self));
}

// Outbox.

bool Outbox::has_room() {
  Entry& next = entry();
  while (!next.transfers.empty()) {
    if (!mail_.test(next.transfers.back())) return false;
    next.transfers.pop_back();
  }
  return true;
}

std::byte* Outbox::room() {
  if (!entry().buffer.is_allocated()) entry().buffer.allocate(mail_);
  return entry().buffer.payload();
}

void Outbox::send(std::size_t bytes, std::vector<int> const& to, std::uint32_t chunk, int step) {
  mail_.seal(entry().buffer, chunk, step);
  for (int rank : to) entry().transfers.push_back(mail_.send(entry().buffer, bytes, rank));
  ++at_;
}

void Outbox::send(std::size_t bytes, int to, std::uint32_t chunk, int step) {
  mail_.seal(entry().buffer, chunk, step);
  entry().transfers.push_back(mail_.send(entry().buffer, bytes, to));
  ++at_;
}

int Outbox::slowest() const {
  std::vector<Mail::Transfer> const& open = entries_[at_ % depth].transfers;
  return open.empty() ? -1 : open.back().peer;
}

void Outbox::flush() {
  for (std::size_t i = 0; i < depth; ++i, ++at_) {
    context_.wait([&] { return has_room(); }, slowest());
  }
}

// Inbox.

void Inbox::begin(std::vector<int> const& senders, std::uint64_t pieces, int step) {
  senders_ = &senders;
  position_ = 0;
  total_ = pieces * senders.size();
  step_ = step;
  for (std::uint64_t message = 0; message < std::min(depth, total_); ++message) start(message);
}

void Inbox::start(std::uint64_t message) {
  Mail::Buffer& buffer = buffers_[message % depth];
  if (!buffer.is_allocated()) buffer.allocate(mail_);
  transfers_[message % depth] = mail_.receive(buffer, sender_of(message));
}

bool Inbox::has_mail() {
  return !is_done() && mail_.test(transfers_[position_ % depth]);
}

std::byte const* Inbox::front() {
  auto const chunk = static_cast<std::uint32_t>(position_ / senders_->size());
  return mail_.open(buffers_[position_ % depth], sender(), chunk, step_);
}

void Inbox::pop() {
  if (position_ + depth < total_) start(position_ + depth);
  ++position_;
}

}  // namespace berth::cpu
