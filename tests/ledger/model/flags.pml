/* SPDX-FileCopyrightText: The Berth contributors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The flags of a host (src/cpu/arrivals.hpp) and the verdict (src/ledger/ledger.hpp).
 *
 * RANKS ranks run OPERATIONS operations, the same on each, chosen here without determinism:
 *   all_reduce  everybody posts its data and reads everybody's
 *   barrier     everybody posts and waits for everybody's flag
 *   led         as all_reduce with several hosts: rank 0 reads all, then posts the result in place
 *               of its own data; the others wait for rank 0 alone
 *   broadcast   the root posts and goes on; the others post and wait for the root alone
 * Operation s uses slot s % 2. `written` is the data (its operation, 0: being written), `flag` its
 * publication. Stores become visible in program order and loads are not reordered: that is what
 * release and acquire on the flag promise for the data before it.
 *
 * With FAILURES as many faults may happen: a rank dies before an operation or while it writes a
 * verdict, or it strays into another operation. Then no operation need complete, but everybody alive
 * must leave with one and the same verdict.
 *
 * Checked: data is never read while it is written or after it was overwritten (assertions), no
 * deadlock (no invalid end state), one verdict, complete, and the same for all (assertions).
 *
 * Switches that break the protocol, to show that the model can fail:
 *   BREAK_ENTER  operations begin without knowing that everybody has entered the last one
 *   BREAK_ORDER  the flag is stored before the data
 *   BREAK_SLOTS  one slot instead of two
 *   BREAK_VERDICT  a verdict is written without winning the exchange first
 */
#ifndef RANKS
#define RANKS 2
#endif
#ifndef OPERATIONS
#define OPERATIONS 5
#endif
#ifndef FAILURES
#define FAILURES 0
#endif
#ifdef BREAK_SLOTS
#define SLOTS 1
#else
#define SLOTS 2
#endif

#define all_reduce 1
#define barrier 2
#define led 3
#define broadcast 4 /* + root */
#define stray 100 /* + rank: two that stray do not do the same */

byte program[OPERATIONS + 1];       /* operation by number, from 1 */
byte flag[RANKS * SLOTS];           /* number of the operation last posted there */
byte kind[RANKS * SLOTS];           /* its fingerprint, stored together with the number */
byte written[RANKS * SLOTS];        /* number of the operation whose data lies there; 0: torn */
bool dead[RANKS];
byte failures = 0;                  /* faults that have happened */
byte verdict = 0;                   /* 0: none, else 1 + the rank whose proposal it is */
byte proposal[RANKS];               /* 0: empty, 1: being written, 2: complete */
byte concluded[RANKS];              /* the verdict a rank left with; 0: none */
bool started = false;

#define slot(rank, number) ((rank) * SLOTS + (number) % SLOTS)
/* True when the flag says this operation or a later one. */
#define has_come(rank, number) (flag[slot(rank, number)] >= number)

/* Leaves with the verdict. */
inline conclude() {
  assert(verdict != 0);
  assert(proposal[verdict - 1] == 2);
  concluded[me] = verdict;
  goto over
}

/* Makes a proposal the verdict unless there is one; leaves. A rank may die in between. */
inline pronounce() {
  proposal[me] = 1;
  die_perhaps();
#ifdef BREAK_VERDICT
  verdict = me + 1;
#endif
  proposal[me] = 2;
  atomic {
    if
    :: verdict == 0 -> verdict = me + 1
    :: else
    fi
  }
  conclude()
}

inline die_perhaps() {
  if
  :: atomic { failures < FAILURES -> failures++; dead[me] = true }; goto over
  :: skip
  fi
}

/* Waits until `other` has posted `number`. A long wait sees a verdict; its watchdog sees the dead. */
inline await(other, number) {
  if
  :: has_come(other, number)
  :: verdict != 0 -> conclude()
  :: dead[other] && !has_come(other, number) -> pronounce()
  fi;
  if /* its fingerprint, unless that rank has gone further already */
  :: flag[slot(other, number)] == number && kind[slot(other, number)] != own -> pronounce()
  :: else
  fi
}

inline await_all(number) {
  i = 1;
  do
  :: i < RANKS -> await((me + i) % RANKS, number); i++
  :: else -> break
  od
}

/* The data of `other` is read in two steps, before, between and after which it must be whole. */
inline read(other, number) {
  assert(written[slot(other, number)] == number);
  assert(written[slot(other, number)] == number)
}

inline read_all(number) {
  i = 1;
  do
  :: i < RANKS -> read((me + i) % RANKS, number); i++
  :: else -> break
  od
}

inline publish(number) {
  d_step { kind[slot(me, number)] = own; flag[slot(me, number)] = number }
}

inline post_data(number) {
#ifdef BREAK_ORDER
  publish(number);
#endif
  written[slot(me, number)] = 0;
  written[slot(me, number)] = number;
#ifndef BREAK_ORDER
  publish(number)
#endif
}

proctype rank(byte me) {
  byte i, now, own;
  byte known = 0; /* everybody has entered this operation */
  started;
  now = 1;
  do
  :: now <= OPERATIONS ->
     /* Arrivals::enter() */
#ifndef BREAK_ENTER
     if
     :: known != now - 1 -> await_all(now - 1); known = now - 1
     :: else
     fi;
#endif
     own = program[now];
     die_perhaps();
     if /* the program strays on this rank */
     :: atomic { failures < FAILURES -> failures++; own = stray + me }
     :: skip
     fi;
     if
     :: own == all_reduce -> post_data(now); await_all(now); known = now; read_all(now)
     :: own == barrier -> publish(now); await_all(now); known = now
     :: own == led && me == 0 -> await_all(now); known = now; read_all(now); post_data(now)
     :: own == led && me != 0 -> post_data(now); await(0, now); known = now; read(0, now)
     :: own == broadcast + me -> post_data(now)
     :: own >= broadcast && own < broadcast + RANKS && own != broadcast + me ->
        publish(now); await(own - broadcast, now); read(own - broadcast, now)
     :: own >= stray -> publish(now); await_all(now); known = now
     fi;
     own = program[now]; /* what the flags of `now` must say if the next enter() looks at them */
     now++
  :: else -> break
  od;
  /* close(): a last barrier, so that nobody ends before all have seen what was lost */
  if
  :: known != OPERATIONS -> await_all(OPERATIONS)
  :: else
  fi;
over:
  skip
}

/* What holds when everybody has left: all went well, or all who live know what did not. */
inline check_end() {
  assert(verdict == 0 || failures > 0);
  i = 0;
  do
  :: i < RANKS -> 
     assert(dead[i] || concluded[i] == verdict);
     assert(dead[i] || verdict != 0 || failures == 0);
     i++
  :: else -> break
  od
}

init {
  byte i = 1;
  do
  :: i <= OPERATIONS ->
     if
     :: program[i] = all_reduce
     :: program[i] = barrier
     :: program[i] = led
     :: program[i] = broadcast
     :: program[i] = broadcast + RANKS - 1
     fi;
     i++
  :: else -> break
  od;
  i = 0;
  atomic {
    do
    :: i < RANKS -> run rank(i); i++
    :: else -> break
    od;
    started = true
  }
  _nr_pr == 1;
  check_end()
}
