/* SPDX-FileCopyrightText: The Berth contributors
 * SPDX-License-Identifier: Apache-2.0
 *
 * How the waiting thread wakes its watchdog (Watch::Watchdog::arm and sleep_until_needed in
 * src/ledger/watchdog.cpp). The two flags go through store buffers, as on every machine in use:
 * a thread's store may become visible to the other after its own next load. seq_cst on both sides
 * empties the buffer before that load; with RELAXED it does not.
 *
 * The waiting thread makes WAITS long waits, each of which ends only when the watchdog has looked
 * at it. A lost wake-up is therefore a deadlock, which spin reports as an invalid end state.
 *
 * Switches that break it: RELAXED; BREAK_ORDER (the watchdog looks at `armed` before it says that
 * it sleeps); BREAK_LOCK (the waiting thread notifies without the mutex).
 */
#ifndef WAITS
#define WAITS 3
#endif

bool armed = false, asleep = false;       /* as memory holds them */
bool armed_buffered, armed_new;           /* one store of the waiting thread under way */
bool asleep_buffered, asleep_new;         /* one of the watchdog */
bool locked = false;                      /* the mutex */
bool waits_on_condition = false;          /* the watchdog lies in the condition variable */
byte wanted = 0, looked_at = 0;           /* waits begun; waits that the watchdog has seen */
bool stop = false;

inline lock() { atomic { !locked -> locked = true } }
inline unlock() { locked = false }
inline notify() { waits_on_condition = false }

/* Memory takes a buffered store at any time. */
active proctype memory() {
end:
  do
  :: atomic { armed_buffered -> armed = armed_new; armed_buffered = false }
  :: atomic { asleep_buffered -> asleep = asleep_new; asleep_buffered = false }
  od
}

inline store_armed(value) {
  atomic { !armed_buffered -> armed_new = value; armed_buffered = true }
}
inline store_asleep(value) {
  atomic { !asleep_buffered -> asleep_new = value; asleep_buffered = true }
}
inline empty_armed() {
#ifndef RELAXED
  !armed_buffered
#else
  skip
#endif
}
inline empty_asleep() {
#ifndef RELAXED
  !asleep_buffered
#else
  skip
#endif
}

active proctype waiter() {
  byte i = 0;
  do
  :: i < WAITS ->
     wanted = i + 1;
     store_armed(true);
     empty_armed();
     if
     :: asleep ->
#ifndef BREAK_LOCK
        lock();
#endif
        notify();
#ifndef BREAK_LOCK
        unlock()
#endif
     :: else
     fi;
     looked_at == wanted; /* the wait: only the watchdog ends it */
     store_armed(false);  /* disarm: release is enough */
     i++
  :: else -> break
  od;
  lock(); stop = true; notify(); unlock() /* ~Watchdog */
}

/* Holds the mutex but inside the condition variable. */
active proctype watchdog() {
  bool needed;
  lock();
  do
  :: stop -> break
  :: !stop ->
     if
     :: armed -> skip   /* a tick: a timed wait, which ends by itself */
     :: !armed -> skip  /* one of the idle ticks before it sleeps */
     :: !armed ->
#ifdef BREAK_ORDER
        needed = armed;
#endif
        store_asleep(true);
        empty_asleep();
#ifndef BREAK_ORDER
        needed = armed || stop;
#endif
        do
        :: needed -> break
        :: else ->
           atomic { waits_on_condition = true; locked = false };
           !waits_on_condition;
           lock();
           needed = armed || stop
        od;
        store_asleep(false);
        empty_asleep()
     fi;
     unlock(); /* the timed wait of a tick */
     lock();
     if
     :: armed && !stop -> looked_at = wanted
     :: else
     fi
  od;
  unlock()
}
