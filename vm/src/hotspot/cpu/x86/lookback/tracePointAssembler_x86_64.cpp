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
#include "asm/macroAssembler.inline.hpp"
#include "code/codeBlob.hpp"
#include "lookback/tracePointAssembler.hpp"
#include "lookback/tracePoints.hpp"
#include "oops/method.hpp"
#include "runtime/frame.hpp"
#include "runtime/thread.hpp"
#ifdef COMPILER1
#include "c1/c1_CodeStubs.hpp"
#include "c1/c1_LIRAssembler.hpp"
#include "c1/c1_MacroAssembler.hpp"
#include "ci/ciMethod.hpp"
#endif

#define __ masm->

static const int SLOT_BYTES = sizeof(jint);

// Of ThreadTracing.
static Address cursor_cell() {
  return Address(r15_thread, JavaThread::trace_cursor_offset());
}

// Compares the word that `base` points to. The assembler's own takes three bytes more.
static void compare_word(MacroAssembler* masm, Register base, int8_t with) {
  assert(base == rax || base == rcx, "one byte of operand");
  __ emit_int8((int8_t)0x83);
  __ emit_int8((int8_t)(0x38 | base->encoding()));
  __ emit_int8(with);
}

// Looks at what a written slot has to look at, the cursor being in `cursor`: the flags say `greater` at an entry, `notEqual` at
// an exit, when the slow path is to be called.
static Assembler::Condition poll(MacroAssembler* masm, Register cursor, bool is_exit) {
  if (is_exit) {
    __ andptr(cursor, -LOOKBACK_TRACE_PAGE);
    compare_word(masm, cursor, 0);
    return Assembler::notEqual;
  }
  // A slab is as long as 16 bits count: xor ax, ax, which takes three bytes less than `and`.
  assert(LOOKBACK_TRACE_SLAB == 1 << 16 && cursor == rax, "see above");
  __ emit_int8(0x66);
  __ xorl(rax, rax);
  compare_word(masm, cursor, 1);
  return Assembler::greater;
}

void TracePointAssembler::emit(MacroAssembler* masm, jint slot, Label* slow, Label* resume) {
  const bool is_exit = (slot & LOOKBACK_TRACE_EXIT) != 0;
  const Register cursor = is_exit ? rcx : rax;
  __ movptr(cursor, cursor_cell());
  __ addptr(cursor, SLOT_BYTES);
  __ jccb(Assembler::lessEqual, *resume);
  __ movl(Address(cursor, -SLOT_BYTES), slot);
  __ movptr(cursor_cell(), cursor);
  __ jcc(poll(masm, cursor, is_exit), *slow);
  __ bind(*resume);
}

void TracePointAssembler::emit_slow(MacroAssembler* masm, Label* slow, Label* resume) {
  assert(_slow_stub != NULL, "generated with the interpreter");
  __ bind(*slow);
  __ call(RuntimeAddress(_slow_stub));
  __ jmp(*resume);
}

// Where the code is not short anyway.
static void emit_in_line(MacroAssembler* masm, jint slot) {
  if (slot == 0) {
    return;
  }
  Label slow;
  Label resume;
  Label done;
  TracePointAssembler::emit(masm, slot, &slow, &resume);
  __ jmpb(done);
  TracePointAssembler::emit_slow(masm, &slow, &resume);
  __ bind(done);
}

void TracePointAssembler::native_entry(MacroAssembler* masm, Method* method) {
  emit_in_line(masm, slot(method, false));
}

void TracePointAssembler::native_exit(MacroAssembler* masm, Method* method) {
  emit_in_line(masm, slot(method, true));
}

// The method is in r11.
void TracePointAssembler::move_interpreted(MacroAssembler* masm, bool is_exit) {
  const Register cursor = r10;
  const Register slot = r11;
  Label done;
  __ movl(slot, Address(slot, Method::trace_id_offset()));
  __ testl(slot, slot);
  __ jcc(Assembler::zero, done);
  __ movptr(cursor, cursor_cell());
  __ addptr(cursor, SLOT_BYTES);
  __ jcc(Assembler::lessEqual, done);
  if (is_exit) {
    __ orl(slot, LOOKBACK_TRACE_EXIT);
  }
  __ movl(Address(cursor, -SLOT_BYTES), slot);
  __ movptr(cursor_cell(), cursor);
  __ andptr(cursor, is_exit ? -LOOKBACK_TRACE_PAGE : -LOOKBACK_TRACE_SLAB);
  __ cmpl(Address(cursor, 0), is_exit ? 0 : 1);
  __ jcc(is_exit ? Assembler::equal : Assembler::lessEqual, done);
  __ call(RuntimeAddress(_slow_stub));
  __ bind(done);
}

void TracePointAssembler::interpreted_entry(MacroAssembler* masm) {
  if (!TracePoints::are_emitted()) {
    return;
  }
  if (_slow_stub == NULL) {
    generate_slow_stub();
  }
  __ mov(r11, rbx);
  move_interpreted(masm, false);
}

void TracePointAssembler::interpreted_exit(MacroAssembler* masm) {
  if (!TracePoints::are_emitted()) {
    return;
  }
  if (_slow_stub == NULL) {
    generate_slow_stub();
  }
  __ movptr(r11, Address(rbp, frame::interpreter_frame_method_offset * wordSize));
  move_interpreted(masm, true);
}

#undef __
#define __ masm.

// Calls TracePoints::slow_path. Keeps all registers that a method's parameters and its result are in, or an exception. The
// code is made by the thread that starts the VM, before there is a compiler.
void TracePointAssembler::generate_slow_stub() {
  static const Register kept[] = { rax, rcx, rdx, rsi, rdi, r8, r9 };
  static const int KEPT = sizeof(kept) / sizeof(kept[0]);
  static const int KEPT_XMM = 8;
  BufferBlob* const blob = BufferBlob::create("Lookback slow path", 512);
  guarantee(blob != NULL, "the code cache is empty yet");
  CodeBuffer code(blob);
  MacroAssembler masm(&code);
  const address start = __ pc();
  __ enter();
  __ subptr(rsp, (KEPT + KEPT_XMM) * wordSize);
  __ andptr(rsp, -StackAlignmentInBytes);
  for (int i = 0; i < KEPT; i++) {
    __ movptr(Address(rbp, -(i + 1) * wordSize), kept[i]);
  }
  for (int i = 0; i < KEPT_XMM; i++) {
    __ movdbl(Address(rbp, -(KEPT + i + 1) * wordSize), as_XMMRegister(i));
  }
  __ vzeroupper();
  __ mov(c_rarg0, r15_thread);
  __ call(RuntimeAddress(CAST_FROM_FN_PTR(address, TracePoints::slow_path)));
  for (int i = 0; i < KEPT_XMM; i++) {
    __ movdbl(as_XMMRegister(i), Address(rbp, -(KEPT + i + 1) * wordSize));
  }
  for (int i = 0; i < KEPT; i++) {
    __ movptr(kept[i], Address(rbp, -(i + 1) * wordSize));
  }
  __ leave();
  __ ret(0);
  __ flush();
  _slow_stub = start;
}

#ifdef COMPILER1
// What is out of line in the first compiler's code.
class TracePointStub : public CodeStub {
 public:
  virtual void emit_code(LIR_Assembler* lir) { TracePointAssembler::emit_slow(lir->masm(), entry(), continuation()); }
#ifndef PRODUCT
  virtual void print_name(outputStream* out) const { out->print("TracePointStub"); }
#endif
};

static jint slot_of(LIR_Assembler* lir, bool is_exit) {
  return TracePointAssembler::slot((Method*)lir->method()->constant_encoding(), is_exit);
}

static void emit_out_of_line(LIR_Assembler* lir, jint slot) {
  if (slot == 0) {
    return;
  }
  TracePointStub* const stub = new TracePointStub();
  TracePointAssembler::emit(lir->masm(), slot, stub->entry(), stub->continuation());
  lir->append_code_stub(stub);
}

void TracePointAssembler::c1_entry(LIR_Assembler* lir) {
  emit_out_of_line(lir, slot_of(lir, false));
}

void TracePointAssembler::c1_return(LIR_Assembler* lir) {
  emit_out_of_line(lir, slot_of(lir, true));
}

// All that is out of line was emitted before the handler is.
void TracePointAssembler::c1_unwind(LIR_Assembler* lir) {
  emit_in_line(lir->masm(), slot_of(lir, true));
}
#endif // COMPILER1
