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

#ifndef SHARE_LOOKBACK_JAVAFRAMEWALK_HPP
#define SHARE_LOOKBACK_JAVAFRAMEWALK_HPP

#include "memory/allocation.hpp"
#include "runtime/frame.hpp"
#include "runtime/registerMap.hpp"

class Method;
class nmethod;

// The physical Java frames of a thread, from the innermost to the outermost: interpreted, compiled, and those of native
// methods. Entry frames and stubs are skipped, so a walk goes on where Java called native code that called Java.
//
// Constraint: the thread stands still, or is the current one. Reads no object, so that no barrier of a collector is
// needed, and allocates nothing.
class JavaFrameWalk : public StackObj {
 private:
  RegisterMap _map;
  frame _frame;
  bool _is_done;

  void skip_others();

 public:
  explicit JavaFrameWalk(JavaThread* thread);

  bool is_done() const { return _is_done; }
  void next();

  // The address just above the return address of the frame. It stays the same while the frame's callees are adapted or
  // deoptimised, grows from callee to caller, and is the caller's stack pointer but for what an adapter has added.
  uintptr_t id() const;

  const frame& current() const { return _frame; }
};

// The Java methods that a physical frame stands for, from the innermost, inlined one to the method of the frame itself.
class VirtualFrames : public StackObj {
 private:
  nmethod* _nm;             // or NULL where there is one method alone
  int _caller;              // where _nm's debug information has the caller, or serialized_null
  Method* _method;
  int _bci;                 // -1 in a native method

  void decode(int offset);

 public:
  explicit VirtualFrames(const frame& physical);

  Method* method() const { return _method; }
  int bci() const { return _bci; }
  bool has_caller() const;
  void next();
};

#endif // SHARE_LOOKBACK_JAVAFRAMEWALK_HPP
