// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include <berth/berth.hpp>

int main() {
  return berth::run_main([] {
    berth::Communicator comm(MPI_COMM_WORLD);  // placed, bound, connected, carried right data
    float sum = static_cast<float>(comm.rank());
    comm.all_reduce(&sum, &sum, 1, berth::Op::sum);
    if (comm.rank() == 0) std::printf("%s: sum %g\n", comm.summary().c_str(), sum);
    comm.close();
    return 0;
  });
}
