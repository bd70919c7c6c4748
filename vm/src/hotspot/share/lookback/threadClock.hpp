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

#ifndef SHARE_LOOKBACK_THREADCLOCK_HPP
#define SHARE_LOOKBACK_THREADCLOCK_HPP

#include "jni.h"
#include "utilities/globalDefinitions.hpp"

class JavaThread;

// Whether a thread runs, which the kernel alone knows and its clock of processor time tells: what is in native code may wait there,
// and what is in Java code may have lost its processor.
//
// Constraint: a requester looks and the thread itself reads, and no lock is held. Where both do at once the answer may be
// wrong, and a sample more or less is taken. Of any time that was long enough to wait in, a part is all that can be told.
class ThreadClock {
 private:
  volatile jlong _processor_time;  // nanoseconds that the thread had run when a requester looked last
  volatile jlong _looked;          // when that was, in nanoseconds
  volatile bool _ran;              // it was in Java code or in the VM then
  bool _is_idle;                   // it had not run since the look before

 public:
  ThreadClock() : _processor_time(0), _looked(0), _ran(false), _is_idle(false) {}

  // Looks at the thread at a time, now, when it runs in Java code or in the VM, or does not; for which part of the time since the last
  // look it has run, 0 to 1. One requester at a time, and the thread cannot go away.
  double look(JavaThread* thread, bool runs, jlong now);

  bool is_idle() const { return _is_idle; }

  // For which part of the time since it was looked at and asked, up to now, the current thread has run, 0 to 1.
  double part_since(jlong asked, jlong now) const;
};

#endif // SHARE_LOOKBACK_THREADCLOCK_HPP
