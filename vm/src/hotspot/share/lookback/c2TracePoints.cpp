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
#include "utilities/macros.hpp"
#ifdef COMPILER2
#include "asm/macroAssembler.hpp"
#include "ci/ciMethod.hpp"
#include "lookback/c2TracePoints.hpp"
#include "lookback/tracePointAssembler.hpp"
#include "opto/compile.hpp"
#include "opto/output.hpp"

// Of a stub of the VM's own 0; of a loop's compilation too, for its frame takes the place of the interpreter's, which was entered.
static jint entry_slot() {
  Compile* const compile = Compile::current();
  return compile->method() == NULL || compile->is_osr_compilation()
      ? 0
      : TracePointAssembler::slot((Method*)compile->method()->constant_encoding(), false);
}

static jint exit_slot() {
  Compile* const compile = Compile::current();
  return compile->method() == NULL
      ? 0
      : TracePointAssembler::slot((Method*)compile->method()->constant_encoding(), true);
}

C2TracePoints::C2TracePoints() : _entry(entry_slot()), _exit(exit_slot()), _stubs() {}

void C2TracePoints::emit(MacroAssembler* masm, jint slot) {
  if (slot == 0) {
    return;
  }
  Compile* const compile = Compile::current();
  Stub* const stub = new (compile->comp_arena()) Stub();
  TracePointAssembler::emit(masm, slot, &stub->_slow, &stub->_resume);
  if (!compile->output()->in_scratch_emit_size()) {
    _stubs.append(stub);
  }
}

void C2TracePoints::emit_stubs(CodeBuffer* code) {
  MacroAssembler masm(code);
  for (int i = 0; i < _stubs.length() && !Compile::current()->failing(); i++) {
    if (code->insts()->maybe_expand_to_ensure_remaining(PhaseOutput::MAX_inst_size) && code->blob() == NULL) {
      Compile::current()->record_failure("CodeCache is full");
      return;
    }
    TracePointAssembler::emit_slow(&masm, &_stubs.at(i)->_slow, &_stubs.at(i)->_resume);
  }
}
#endif // COMPILER2
