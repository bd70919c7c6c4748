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

#ifndef SHARE_LOOKBACK_C2TRACEPOINTS_HPP
#define SHARE_LOOKBACK_C2TRACEPOINTS_HPP

#include "asm/assembler.hpp"
#include "jni.h"
#include "memory/allocation.hpp"
#include "utilities/growableArray.hpp"

class CodeBuffer;
class MacroAssembler;

// The trace points of what the second compiler is about to emit.
//
// Constraint: instructions are emitted twice, first to know their size, so the method's id is read once: another thread may set
// it meanwhile.
class C2TracePoints {
 private:
  // Where a trace point goes, out of line, when it has to call the slow path.
  struct Stub : public ResourceObj {
    Label _slow;
    Label _resume;
  };

  const jint _entry;        // slots, or 0
  const jint _exit;
  GrowableArray<Stub*> _stubs;

  void emit(MacroAssembler* masm, jint slot);

 public:
  // For the current compilation.
  C2TracePoints();

  // The frame is made; or is about to be given up, by return or by exception.
  void entry(MacroAssembler* masm) { emit(masm, _entry); }
  void exit(MacroAssembler* masm) { emit(masm, _exit); }

  // Emits what is out of line.
  void emit_stubs(CodeBuffer* code);
};

#endif // SHARE_LOOKBACK_C2TRACEPOINTS_HPP
