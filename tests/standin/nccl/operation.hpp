// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
/// What a caller asks for, and how it is carried out.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "nccl_api.hpp"
#include "reduce.hpp"
#include "status.hpp"

namespace standin {

class Communicator;

struct Operation {
  Kind kind;
  std::byte const* from;
  std::byte* to;
  std::size_t count;
  ncclDataType_t type;
  Reduction reduction;
  int root;  ///< or the peer of a send or receive
  cudaStream_t stream;
};

inline bool is_pair(Operation const& operation) {
  return operation.kind == Kind::send || operation.kind == Kind::receive;
}

/// Operations of one communicator that start together: its collectives in order, then its sends and
/// receives at once.
struct Task {
  std::shared_ptr<Communicator> communicator;
  std::vector<Operation> operations;
};

/// The ranks that this one has to be connected with.
std::vector<int> partners(Communicator const& communicator,
                          std::vector<Operation> const& operations);

/// Bytes that the operation writes on this rank, and where; null when it writes none.
std::byte* result_of(Communicator const& communicator, Operation const& operation,
                     std::size_t& bytes);

/// Carry it out; they throw Stopped when `stop` is raised, and Failure.
void run_collective(Communicator& communicator, Operation const& operation, Signal const& stop);
void run_pairs(Communicator& communicator, std::vector<Operation> const& pairs, Signal const& stop);

}  // namespace standin
