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
#include "code/debugInfo.hpp"
#include "code/debugInfoRec.hpp"
#include "code/nmethod.hpp"
#include "code/pcDesc.hpp"
#include "lookback/javaFrameWalk.hpp"
#include "oops/method.hpp"
#include "runtime/frame.inline.hpp"
#include "runtime/registerMap.hpp"
#include "runtime/thread.hpp"

// Nothing is read through the map, and frames are not made ready for reading objects.
JavaFrameWalk::JavaFrameWalk(JavaThread* thread) :
    _map(thread, false /* update_map */, false /* process_frames */),
    _frame(),
    _is_done(!thread->has_last_Java_frame()) {
  if (!_is_done) {
    _frame = thread->last_frame();
    skip_others();
  }
}

void JavaFrameWalk::skip_others() {
  while (!_frame.is_interpreted_frame()) {
    CodeBlob* const blob = _frame.cb();
    // Native methods' wrappers are no compiled frames to `frame`.
    if (blob != NULL && blob->is_compiled()) {
      return;
    }
    if (_frame.is_first_frame()) {
      _is_done = true;
      return;
    }
    _frame = _frame.sender(&_map);
  }
}

void JavaFrameWalk::next() {
  assert(!_is_done, "no frame");
  _frame = _frame.sender(&_map);
  skip_others();
}

uintptr_t JavaFrameWalk::id() const {
  if (_frame.is_interpreted_frame()) {
    // The saved frame pointer and the return address.
    return reinterpret_cast<uintptr_t>(_frame.fp() + 2);
  }
  return reinterpret_cast<uintptr_t>(_frame.unextended_sp() + _frame.cb()->frame_size());
}

VirtualFrames::VirtualFrames(const frame& physical) :
    _nm(NULL),
    _caller(DebugInformationRecorder::serialized_null),
    _method(NULL),
    _bci(-1) {
  if (physical.is_interpreted_frame()) {
    _method = physical.interpreter_frame_method();
    if (!_method->is_native()) {
      _bci = MAX2(0, _method->validate_bci_from_bcp(physical.interpreter_frame_bcp()));
    }
    return;
  }
  nmethod* const nm = physical.cb()->as_nmethod();
  PcDesc* const where = nm->is_native_method() ? NULL : nm->pc_desc_at(physical.pc());
  if (where == NULL) {
    _method = nm->method();
    _bci = _method->is_native() ? -1 : 0;
    return;
  }
  _nm = nm;
  decode(where->scope_decode_offset());
}

void VirtualFrames::decode(int offset) {
  DebugInfoReadStream stream(_nm, offset);
  _caller = stream.read_int();
  _method = stream.read_method();
  // At a call that is executed again after a deoptimisation, too.
  _bci = MAX2(0, stream.read_bci());
}

bool VirtualFrames::has_caller() const {
  return _caller != DebugInformationRecorder::serialized_null;
}

void VirtualFrames::next() {
  assert(has_caller(), "no caller");
  decode(_caller);
}
