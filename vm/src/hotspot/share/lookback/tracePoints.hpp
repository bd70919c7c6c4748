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

#ifndef SHARE_LOOKBACK_TRACEPOINTS_HPP
#define SHARE_LOOKBACK_TRACEPOINTS_HPP

#include "jvmtifiles/jvmti.h"
#include "lookback/tracePoints.h"
#include "memory/allocation.hpp"

class JavaThread;
class Method;
class vframeArray;

// What trace points need of the VM: the methods' ids, and what is done in C++.
//
// Constraint: the slow path runs in Java state, wherever a method is entered or left; nothing here may come to a safepoint then.
class TracePoints : public AllStatic {
 private:
  static volatile LookbackTraceSlowPath _slow_path;

  static void set_id(Method* method, jint id);
  static void enter(JavaThread* thread, jint id);

 public:
  // Whether compilers and interpreter emit trace points.
  static bool are_emitted();

  // Sets the ids of methods. What is compiled with old ones is not entered any more.
  static jvmtiError set_ids(JavaThread* current, jint count, const jmethodID* methods, const jint* ids);

  static void set_slow_path(LookbackTraceSlowPath slow_path);

  // The slot before the thread's cursor is written and asks for the slow path. Called by the stub of TracePointAssembler.
  static void slow_path(JavaThread* thread);

  // A compiled frame was replaced by interpreted ones: the inlined methods have frames now.
  static void on_unpacked(JavaThread* thread, vframeArray* frames);
};

#endif // SHARE_LOOKBACK_TRACEPOINTS_HPP
