// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "socket.hpp"

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include <sys/eventfd.h>

#include "log.hpp"
#include "settings.hpp"

namespace standin {
namespace {

constexpr int backlog = 4096;

void no_delay(Descriptor const& socket) {
  int const on = 1;
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

[[noreturn]] void fail_closed(Descriptor const& socket) {
  Address peer;
  socklen_t size = sizeof peer;
  getpeername(socket.get(), &peer.plain, &size);
  fail(ncclRemoteError,
       "socketProgress: Connection closed by remote peer " + host_name() + "<" + peer.text() + ">");
}

/// One attempt; 0 or the errno.
int try_connect(Address const& address, Descriptor& socket, Signal const& stop) {
  socket =
      Descriptor(::socket(address.plain.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return errno;
  if (connect(socket.get(), &address.plain, address.size()) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  wait_for(socket.get(), POLLOUT, stop);
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this == &other) return *this;
  if (number_ >= 0) close(number_);
  number_ = other.release();
  return *this;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

int Descriptor::release() {
  return std::exchange(number_, -1);
}

Signal::Signal() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void Signal::raise() {
  raised_ = true;
  eventfd_t const one = 1;
  eventfd_write(event_.get(), one);
}

void Signal::sleep_ms(long long milliseconds) const {
  pollfd wait{descriptor(), POLLIN, 0};
  if (poll(&wait, 1, static_cast<int>(milliseconds)) > 0 || raised()) throw Stopped{};
}

void Signal::park() const {
  while (true) sleep_ms(1000);
}

Address::Address() {
  std::memset(static_cast<void*>(this), 0, sizeof *this);
}

socklen_t Address::size() const {
  return plain.sa_family == AF_INET6 ? socklen_t{sizeof v6} : socklen_t{sizeof v4};
}

std::string Address::text() const {
  bool const six = plain.sa_family == AF_INET6;
  char name[INET6_ADDRSTRLEN] = "?";
  inet_ntop(plain.sa_family, six ? static_cast<void const*>(&v6.sin6_addr) : &v4.sin_addr, name,
            sizeof name);
  return standin::text("%s<%d>", name, ntohs(six ? v6.sin6_port : v4.sin_port));
}

bool parse_address(std::string const& text, Address& address) {
  std::string name = text;
  std::string port;
  bool const bracketed = text.rfind('[', 0) == 0;
  std::size_t const colon = bracketed ? text.find("]:") : text.find(':');
  if (bracketed) {
    name = text.substr(1, text.find(']') - 1);
    if (colon != std::string::npos) port = text.substr(colon + 2);
  } else if (colon != std::string::npos && colon == text.rfind(':')) {
    name = text.substr(0, colon);
    port = text.substr(colon + 1);
  }
  auto const number =
      static_cast<in_port_t>(htons(static_cast<in_port_t>(std::atoi(port.c_str()))));
  address = Address();
  if (inet_pton(AF_INET, name.c_str(), &address.v4.sin_addr) == 1) {
    address.v4.sin_family = AF_INET;
    address.v4.sin_port = number;
    return true;
  }
  if (inet_pton(AF_INET6, name.c_str(), &address.v6.sin6_addr) == 1) {
    address.v6.sin6_family = AF_INET6;
    address.v6.sin6_port = number;
    return true;
  }
  return false;
}

Descriptor listen_on(Address& address) {
  Descriptor socket(
      ::socket(address.plain.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  int const on = 1;
  socklen_t size = address.size();
  if (!socket.valid() || setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      bind(socket.get(), &address.plain, size) != 0 || listen(socket.get(), backlog) != 0 ||
      getsockname(socket.get(), &address.plain, &size) != 0) {
    fail(ncclSystemError, "Call to bind failed: " + std::string(std::strerror(errno)));
  }
  return socket;
}

Descriptor dial(Address const& address, Signal const& stop) {
  int const family = address.plain.sa_family;
  if (family != AF_INET && family != AF_INET6) {
    fail(ncclInternalError,
         text("ncclSocketConnect: connecting to address %s with family %d is neither AF_INET(%d) "
              "nor AF_INET6(%d)",
              "?<0>", family, AF_INET, AF_INET6));
  }
  long long const retries = nccl_integer("NCCL_SOCKET_RETRY_CNT", 34);
  long long const sleep_ms = nccl_integer("NCCL_SOCKET_RETRY_SLEEP_MSEC", 100);
  for (long long attempt = 1;; ++attempt) {
    Descriptor socket;
    int const error = try_connect(address, socket, stop);
    if (error == 0) {
      no_delay(socket);
      return socket;
    }
    if (attempt > retries) {
      fail(ncclRemoteError, text("socketPollConnect: connect to %s returned %s, exceeded error "
                                 "retry count after %lld attempts",
                                 address.text().c_str(), std::strerror(error), attempt));
    }
    info(
        text("socketPollConnect: connect to %s returned %s, retrying (%lld/%lld) after sleep for "
             "%lld msec",
             address.text().c_str(), std::strerror(error), attempt, retries, attempt * sleep_ms));
    stop.sleep_ms(attempt * sleep_ms);
  }
}

Descriptor accept_one(Descriptor const& listener, Signal const& stop) {
  while (true) {
    wait_for(listener.get(), POLLIN, stop);
    Descriptor socket(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket.valid()) {
      no_delay(socket);
      return socket;
    }
    bool const again = errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
    if (!again) fail(ncclSystemError, "accept failed: " + std::string(std::strerror(errno)));
  }
}

void send_all(Descriptor const& socket, void const* bytes, std::size_t size, Signal const& stop) {
  auto const* from = static_cast<std::byte const*>(bytes);
  while (size > 0) {
    ssize_t const sent = send(socket.get(), from, size, MSG_NOSIGNAL);
    if (sent > 0) {
      from += sent;
      size -= static_cast<std::size_t>(sent);
    } else if (errno == EAGAIN) {
      wait_for(socket.get(), POLLOUT, stop);
    } else if (errno != EINTR) {
      fail_closed(socket);
    }
  }
}

void receive_all(Descriptor const& socket, void* bytes, std::size_t size, Signal const& stop) {
  auto* to = static_cast<std::byte*>(bytes);
  while (size > 0) {
    ssize_t const got = recv(socket.get(), to, size, 0);
    if (got > 0) {
      to += got;
      size -= static_cast<std::size_t>(got);
    } else if (got < 0 && errno == EAGAIN) {
      wait_for(socket.get(), POLLIN, stop);
    } else if (got == 0 || errno != EINTR) {
      fail_closed(socket);
    }
  }
}

void wait_for(int descriptor, short events, Signal const& stop) {
  pollfd waits[] = {{stop.descriptor(), POLLIN, 0}, {descriptor, events, 0}};
  while (true) {
    int const ready = poll(waits, 2, 1000);
    if (stop.raised()) throw Stopped{};
    if (ready > 0 && waits[1].revents != 0) return;
  }
}

}  // namespace standin
