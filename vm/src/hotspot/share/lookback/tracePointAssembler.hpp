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

#ifndef SHARE_LOOKBACK_TRACEPOINTASSEMBLER_HPP
#define SHARE_LOOKBACK_TRACEPOINTASSEMBLER_HPP

#include "asm/assembler.hpp"
#include "jni.h"
#include "memory/allocation.hpp"
#include "utilities/macros.hpp"

class LIR_Assembler;
class MacroAssembler;
class Method;

// Emits trace points. Each emits nothing when trace points are not asked for by flag or the method has no id; but interpreted
// ones read it when they run, for all methods have them in common.
//
// Constraint: what compiled code executes is as short as can be, for code grows by it at both ends of each method: one load and
// one branch while the thread is not traced. All else is out of line or in one stub.
class TracePointAssembler : public AllStatic {
 private:
  static address _slow_stub;

  static void generate_slow_stub() NOT_AMD64({});
  static void move_interpreted(MacroAssembler* masm, bool is_exit) NOT_AMD64({});

 public:
  // The slot of a method's entry or exit, or 0: it is not traced.
  static jint slot(Method* method, bool is_exit);

  // Writes a slot. Is left for `slow`, which emit_slow takes to `resume`, if that is to be called. Uses rax at an entry,
  // rcx at an exit: no parameter and no result is in there.
  static void emit(MacroAssembler* masm, jint slot, Label* slow, Label* resume) NOT_AMD64({});
  static void emit_slow(MacroAssembler* masm, Label* slow, Label* resume) NOT_AMD64({});

  // A native method's wrapper has its frame, or is about to give it up.
  static void native_entry(MacroAssembler* masm, Method* method) NOT_AMD64({});
  static void native_exit(MacroAssembler* masm, Method* method) NOT_AMD64({});

  // The interpreter has made a frame, the method in rbx; or is about to give it up.
  static void interpreted_entry(MacroAssembler* masm) NOT_AMD64({});
  static void interpreted_exit(MacroAssembler* masm) NOT_AMD64({});

  // The first compiler's code has its frame, or is about to give it up by return or by exception.
  static void c1_entry(LIR_Assembler* lir) NOT_AMD64({});
  static void c1_return(LIR_Assembler* lir) NOT_AMD64({});
  static void c1_unwind(LIR_Assembler* lir) NOT_AMD64({});
};

#endif // SHARE_LOOKBACK_TRACEPOINTASSEMBLER_HPP
