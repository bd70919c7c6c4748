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

#ifndef SHARE_LOOKBACK_THREADTRACING_HPP
#define SHARE_LOOKBACK_THREADTRACING_HPP

#include "jni.h"
#include "runtime/atomic.hpp"
#include "utilities/globalDefinitions.hpp"
#include "utilities/sizes.hpp"

// What trace points keep in each JavaThread: its cursor (tracePoints.h).
//
// Constraint: compiled code loads and stores it without any order. So a positive cursor is set only by its own thread, or
// while that stands still. What compiled code loads is no cursor where one more slot makes it positive: then it sees by one
// addition whether it is one and where the next slot is.
//
// Each trace point loads what the one before has stored. AMD's processors rename such a word like a register where its displacement
// is less than 1 KiB (measured on a Zen 2: 0.2 ns a trace point instead of 1.5), so it is among the first of a JavaThread's.
class ThreadTracing {
 private:
  // The cursor, but NONE where that is 0.
  volatile jlong _cursor;

  static const jlong NONE = min_jlong;

  static jlong kept(jlong cursor) { return cursor == 0 ? NONE : cursor; }

 public:
  ThreadTracing() : _cursor(NONE) {}

  jlong cursor() const {
    const jlong cursor = Atomic::load(&_cursor);
    return cursor == NONE ? 0 : cursor;
  }
  void set_cursor(jlong cursor) { Atomic::store(&_cursor, kept(cursor)); }
  bool compare_and_set_cursor(jlong expected, jlong cursor) {
    return Atomic::cmpxchg(&_cursor, kept(expected), kept(cursor)) == kept(expected);
  }

  static ByteSize cursor_offset() { return byte_offset_of(ThreadTracing, _cursor); }
};

#endif // SHARE_LOOKBACK_THREADTRACING_HPP
