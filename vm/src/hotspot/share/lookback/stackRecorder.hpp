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

#ifndef SHARE_LOOKBACK_STACKRECORDER_HPP
#define SHARE_LOOKBACK_STACKRECORDER_HPP

#include "jvmtifiles/jvmti.h"
#include "lookback/stackTraces.h"
#include "memory/allocation.hpp"
#include "utilities/growableArray.hpp"

class JavaFrameWalk;
class JavaThread;
class Method;

// The stack traces of one thread, recorded incrementally: a sample records the innermost frames, and the frame of a
// caller is recorded just before the caller goes on. Stack traces share what lies below (thesis, chapter 3).
//
// A frame object is a frame of the stack at one time: the same frame at another bytecode is another object. The frame
// that is recorded next, the current skeleton, is known by its id alone. Where the thesis patches return addresses, the
// VM's own return polls compare the stack pointer with a watermark.
//
// Constraint: used by the thread itself, or by another one while the thread stands still. No lock, no safepoint.
class StackRecorder : public CHeapObj<mtServiceability> {
 private:
  struct Frame {
    jmethodID method;
    uintptr_t id;       // of a skeleton; 0: it is filled
    int bci;
    int caller;         // index, or NONE
  };

  // A frame of the walk that LookbackVerify compares with.
  struct Truth {
    jmethodID method;
    int bci;
    int trace;          // index
  };

  enum { NONE = -1 };

  JavaThread* const _thread;
  const jlong _thread_id;
  GrowableArrayCHeap<Frame, mtServiceability> _frames;
  GrowableArrayCHeap<LookbackStackTrace, mtServiceability> _traces;
  GrowableArrayCHeap<Truth, mtServiceability> _truth;
  int _skeleton;        // the current one, or NONE
  uintptr_t _watermark; // returns of frames above it are trapped; 0: none
  uintptr_t _leaving;   // id of the frame whose return poll is passed; 0: none
  jlong _dropped;
  StackRecorder* _next; // in a list of those that are handed over

  int append(Method* method, int bci);
  int append_skeleton(uintptr_t id, int caller);
  int record(const JavaFrameWalk& walk, int first);
  bool link(int last, const JavaFrameWalk& walk);
  void fill(JavaFrameWalk& walk, uintx most);
  void watch(uintptr_t callee);
  uintptr_t watched() const;
  void forget_missed(uintptr_t id);
  bool fill_if_reached(JavaFrameWalk& walk, uintx most);
  void note_truth(int trace);
  bool is_true(int trace, int* position) const;

 public:
  explicit StackRecorder(JavaThread* thread);

  StackRecorder* next() const          { return _next; }
  void set_next(StackRecorder* next)   { _next = next; }

  uintptr_t watermark() const { return _watermark; }
  bool is_empty() const       { return _traces.is_empty() && _dropped == 0; }

  // Records where the thread is. False where it is in no Java method, or there is no memory left for it.
  bool sample(jlong tag, bool whole, jint activity);

  // The innermost Java frame is about to return, be unwound by an exception or be replaced; its caller goes on.
  void before_unwind();

  // A frame has just gone; the innermost Java frame goes on.
  void after_unwind();

  // Records all frames that are left.
  void complete();

  int trace_count() const { return _traces.length(); }
  int frame_count() const { return _frames.length(); }
  jlong dropped() const   { return _dropped; }

  // Copies what is recorded and complete; indices of frames begin at `first`. Tells how many stack traces are not what
  // LookbackVerify saw.
  jlong copy(LookbackStackTrace* traces, LookbackFrame* frames, int first) const;
};

#endif // SHARE_LOOKBACK_STACKRECORDER_HPP
