// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
/// Sockets whose every wait ends when a Signal is raised.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>

#include <netinet/in.h>

#include <sys/socket.h>

namespace standin {

/// A descriptor that is closed with its owner.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  int get() const { return number_; }
  bool valid() const { return number_ >= 0; }
  int release();
  void reset() { *this = Descriptor(); }

 private:
  int number_ = -1;
};

/// Ends waits: raised once, by an abort. Any thread may raise it or wait for it.
class Signal {
 public:
  Signal();
  void raise();
  bool raised() const { return raised_.load(); }

  /// Readable once the signal is raised.
  int descriptor() const { return event_.get(); }

  /// Sleeps; throws Stopped when the signal is raised meanwhile.
  void sleep_ms(long long milliseconds) const;

  /// Waits for ever; throws Stopped when the signal is raised.
  [[noreturn]] void park() const;

 private:
  std::atomic<bool> raised_ = false;
  Descriptor event_;
};

/// An address as it travels: plain bytes, zero behind what the family needs.
struct Address {
  union {
    sockaddr plain;
    sockaddr_in v4;
    sockaddr_in6 v6;
  };

  Address();
  socklen_t size() const;

  /// "127.0.0.1<4711>", NCCL's way of writing it.
  std::string text() const;
};

/// The address that `text` means: IP, IP:PORT, [IP6] or [IP6]:PORT. False when it means none.
bool parse_address(std::string const& text, Address& address);

/// The address on the interface that NCCL_SOCKET_IFNAME picks, without a port; the loopback
/// interface when the variable is not set. Fails with ncclInvalidUsage, as NCCL, when there is
/// none.
Address interface_address();

/// Name of the interface that interface_address() picked.
std::string interface_name();

/// A listening socket; the port that it got, or was to get, is written into `address`.
Descriptor listen_on(Address& address);

/// Connects with NCCL's retries: NCCL_SOCKET_RETRY_CNT times, the i-th after i times
/// NCCL_SOCKET_RETRY_SLEEP_MSEC, then ncclRemoteError. A foreign address family is
/// ncclInternalError at once.
Descriptor dial(Address const& address, Signal const& stop);

/// The next connection.
Descriptor accept_one(Descriptor const& listener, Signal const& stop);

/// Sends or receives all bytes. A closed connection fails with ncclRemoteError.
void send_all(Descriptor const& socket, void const* bytes, std::size_t size, Signal const& stop);
void receive_all(Descriptor const& socket, void* bytes, std::size_t size, Signal const& stop);

/// Waits until `events` or an end of the connection are there.
void wait_for(int descriptor, short events, Signal const& stop);

}  // namespace standin
