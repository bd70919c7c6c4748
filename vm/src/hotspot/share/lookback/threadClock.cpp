/*
 * Copyright (c) 2026, the Lookback authors.
 * DO NOT ALTER OR REMOVE COPYRIGHT NOTICES OR THIS FILE HEADER.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation, with the Classpath exception
 * as in the LICENSE file of OpenJDK.
 *
 * This code is distributed in the hope that it will be useful, but WITHOUT
 * ANY WARRANTY; without even the implied warranty of MERCHANTABILITY or
 * FITNESS FOR A PARTICULAR PURPOSE. See the GNU General Public License
 * version 2 for more details.
 */

#include "precompiled.hpp"
#include "lookback/threadClock.hpp"
#include "runtime/atomic.hpp"
#include "runtime/os.hpp"
#include "runtime/thread.inline.hpp"

// So long after it was asked, in nanoseconds, a thread that comes to a poll ran when it was, whatever it did: most are as soon, and
// a look at the clock costs a system call.
static const jlong SOON = 10 * (NANOUNITS / MICROUNITS);
// So long, at most, the requester has kept a processor from a thread that was in Java code.
static const jlong KEPT = 25 * (NANOUNITS / MICROUNITS);

static double part_of(jlong ran, jlong elapsed) {
  return clamp((double)ran / (double)elapsed, 0.0, 1.0);
}

double ThreadClock::look(JavaThread* thread, bool runs, jlong now) {
  const jlong processor_time = os::thread_cpu_time(thread);
  const jlong ran = processor_time - _processor_time;
  const jlong elapsed = now - _looked;
  _is_idle = ran == 0;
  Atomic::store(&_processor_time, processor_time);
  Atomic::store(&_looked, now);
  Atomic::store(&_ran, runs);
  return elapsed <= 0 ? 0 : part_of(ran, elapsed);
}

double ThreadClock::part_since(jlong asked, jlong now) const {
  const jlong kept = Atomic::load(&_ran) ? KEPT : 0;
  const jlong elapsed = now - asked;
  if (elapsed <= SOON + 2 * kept) {
    return 1;
  }
  return part_of(os::current_thread_cpu_time() - Atomic::load(&_processor_time) + kept, elapsed);
}
