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
#include "classfile/javaClasses.hpp"
#include "logging/log.hpp"
#include "lookback/javaFrameWalk.hpp"
#include "lookback/lookback_globals.hpp"
#include "lookback/stackRecorder.hpp"
#include "oops/method.hpp"
#include "runtime/globals.hpp"
#include "runtime/os.hpp"
#include "runtime/thread.hpp"
#include "runtime/vframe.inline.hpp"

// More frames of a thread between two retrievals are dropped; 24 bytes each.
static const int MOST_FRAMES = 4 * 1024 * 1024;

// A compiled return compares the address of the return address, an interpreted one that of the saved frame pointer below
// it. Both are above this; of a callee, whose id is the frame's stack pointer at most, neither is.
static const uintptr_t BELOW_ID = 3 * wordSize;

StackRecorder::StackRecorder(JavaThread* thread) :
    _thread(thread),
    _thread_id(thread->threadObj() == NULL ? 0 : java_lang_Thread::thread_id(thread->threadObj())),
    _frames(),
    _traces(),
    _truth(),
    _skeleton(NONE),
    _watermark(0),
    _leaving(0),
    _dropped(0),
    _next(NULL) {
}

int StackRecorder::append(Method* method, int bci) {
  return _frames.append({method->jmethod_id(), 0, bci, NONE});
}

int StackRecorder::append_skeleton(uintptr_t id, int caller) {
  return _frames.append({NULL, id, 0, caller});
}

// Records a physical frame with all that is inlined in it, and tells the index of the outermost; the innermost is the skeleton
// `first`, if there is one.
int StackRecorder::record(const JavaFrameWalk& walk, int first) {
  VirtualFrames methods(walk.current());
  int last = first;
  if (first == NONE) {
    last = append(methods.method(), methods.bci());
  } else {
    Frame& skeleton = _frames.at(first);
    skeleton.method = methods.method()->jmethod_id();
    skeleton.bci = methods.bci();
    skeleton.id = 0;
  }
  while (methods.has_caller()) {
    methods.next();
    const int caller = append(methods.method(), methods.bci());
    _frames.at(last).caller = caller;
    last = caller;
  }
  return last;
}

// Makes the current skeleton the caller of `last`, if it stands for the frame that the walk has reached.
bool StackRecorder::link(int last, const JavaFrameWalk& walk) {
  if (_skeleton == NONE || _frames.at(_skeleton).id != walk.id()) {
    return false;
  }
  _frames.at(last).caller = _skeleton;
  return true;
}

// Traps the return of the frame.
void StackRecorder::watch(uintptr_t callee) {
  _watermark = callee - BELOW_ID;
}

// The frame whose return is trapped.
uintptr_t StackRecorder::watched() const {
  return _watermark + BELOW_ID;
}

// Fills the current skeleton, whose frame the walk has reached, and as many new frames below it as are asked for. A skeleton that
// is there already is left to its own return: its frame may be sampled again before.
void StackRecorder::fill(JavaFrameWalk& walk, uintx most) {
  for (uintx filled = 1; ; filled++) {
    const int below = _frames.at(_skeleton).caller;
    const uintptr_t id = walk.id();
    const int last = record(walk, _skeleton);
    _skeleton = below;
    walk.next();
    if (walk.is_done()) {
      assert(below == NONE, "skeletons are of frames that are there");
      _frames.at(last).caller = NONE;
      _watermark = 0;
      return;
    }
    if (link(last, walk)) {
      watch(id);
      return;
    }
    _skeleton = append_skeleton(walk.id(), below);
    _frames.at(last).caller = _skeleton;
    if (filled == most) {
      watch(id);
      return;
    }
  }
}

// Gives up skeletons of frames below this id: they went, or went on, without a trapped return. That takes a sample between an
// interpreted method's return poll and its end, where an agent's MethodExit event runs, for one.
void StackRecorder::forget_missed(uintptr_t id) {
  while (_skeleton != NONE && _frames.at(_skeleton).id < id) {
    Frame& missed = _frames.at(_skeleton);
    missed.id = 0;
    _skeleton = missed.caller;
  }
  if (_skeleton == NONE) {
    _watermark = 0;
  }
}

// Fills the current skeleton, and frames below, if it stands for the frame that the walk has reached; whether it did.
bool StackRecorder::fill_if_reached(JavaFrameWalk& walk, uintx most) {
  forget_missed(walk.id());
  if (_skeleton == NONE || _frames.at(_skeleton).id != walk.id()) {
    return false;
  }
  fill(walk, most);
  return true;
}

bool StackRecorder::sample(jlong tag, bool whole, jint activity) {
  JavaFrameWalk walk(_thread);
  if (walk.is_done()) {
    return false;
  }
  if (_frames.length() >= MOST_FRAMES) {
    _dropped++;
    return false;
  }
  if (walk.id() == _leaving) {
    // It returns without another poll, so its caller is not to be left to that.
    before_unwind();
  }
  forget_missed(walk.id() + 1);
  const int top = _frames.length();
  const int trace = _traces.append({tag, _thread_id, os::javaTimeNanos(), top, activity});
  int last = record(walk, NONE);
  uintptr_t callee = walk.id();
  walk.next();
  for (uintx recorded = 0; !walk.is_done(); recorded++) {
    if (!whole) {
      if (link(last, walk)) {
        watch(callee);
        break;
      }
      if (recorded == LookbackFramesPerSample) {
        _skeleton = append_skeleton(walk.id(), _skeleton);
        _frames.at(last).caller = _skeleton;
        watch(callee);
        break;
      }
    }
    const int caller = _frames.length();
    const int outermost = record(walk, NONE);
    _frames.at(last).caller = caller;
    last = outermost;
    callee = walk.id();
    walk.next();
  }
  if (LookbackVerify) {
    note_truth(trace);
  }
  return true;
}

void StackRecorder::before_unwind() {
  if (_skeleton == NONE) {
    return;
  }
  JavaFrameWalk walk(_thread);
  if (walk.is_done()) {
    return;
  }
  _leaving = walk.id();
  walk.next();
  if (walk.is_done()) {
    return;
  }
  fill_if_reached(walk, LookbackFramesPerTrap);
}

void StackRecorder::after_unwind() {
  if (_skeleton == NONE) {
    return;
  }
  JavaFrameWalk walk(_thread);
  if (walk.is_done()) {
    return;
  }
  if (fill_if_reached(walk, LookbackFramesPerTrap) || _skeleton == NONE) {
    return;
  }
  const uintptr_t next = _frames.at(_skeleton).id;
  uintptr_t callee = walk.id();
  walk.next();
  if (!walk.is_done() && walk.id() <= watched()) {
    // What went was far inside, as it is with most exceptions, and there may be many: nobody walks the stack for each.
    return;
  }
  // The frame above the skeleton has moved, as on-stack replacement does it.
  for (; !walk.is_done() && walk.id() < next; walk.next()) {
    callee = walk.id();
  }
  if (!walk.is_done() && walk.id() == next) {
    watch(callee);
  }
}

void StackRecorder::complete() {
  JavaFrameWalk walk(_thread);
  while (_skeleton != NONE && !walk.is_done()) {
    if (!fill_if_reached(walk, max_uintx)) {
      walk.next();
    }
  }
  // A thread that has ended has no frame left.
  forget_missed(max_uintx);
}

// A walk by the VM's own means.
void StackRecorder::note_truth(int trace) {
  // The stream reads a frame's method and bytecode alone.
  for (vframeStream stream(_thread, false /* stop_at_java_call_stub */, false /* process_frames */); !stream.at_end();
       stream.next()) {
    const int bci = stream.method()->is_native() ? -1 : MAX2(0, stream.bci());
    _truth.append({stream.method()->jmethod_id(), bci, trace});
  }
}

// Whether a stack trace is what was noted, beginning at the position, which is moved to the next one's.
bool StackRecorder::is_true(int trace, int* position) const {
  int frame = _traces.at(trace).top;
  bool is_same = true;
  for (; *position < _truth.length() && _truth.at(*position).trace == trace; (*position)++) {
    const Truth& truth = _truth.at(*position);
    if (frame == NONE) {
      is_same = false;
      continue;
    }
    const Frame& found = _frames.at(frame);
    is_same = is_same && found.method == truth.method && found.bci == truth.bci;
    frame = found.caller;
  }
  return is_same && frame == NONE;
}

jlong StackRecorder::copy(LookbackStackTrace* traces, LookbackFrame* frames, int first) const {
  for (int i = 0; i < _frames.length(); i++) {
    const Frame& frame = _frames.at(i);
    frames[i] = {frame.method, frame.bci, frame.caller == NONE ? NONE : first + frame.caller};
  }
  jlong differing = 0;
  int position = 0;
  for (int i = 0; i < _traces.length(); i++) {
    traces[i] = _traces.at(i);
    traces[i].top += first;
    if (LookbackVerify && !is_true(i, &position)) {
      log_error(jvmti)("stack trace %d of thread " JLONG_FORMAT " differs", i, _thread_id);
      differing++;
    }
  }
  return differing;
}
