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

// What a trace point costs this processor without a VM: the instructions that the second compiler emits for Listing 1's method
// (tracePointAssembler_x86_64.cpp), in a recursion of the same depth, with parts of a trace point left out and with the cursor at
// several places of the thread. Prints a line a variant: nanoseconds a call, and a trace point.
//
// Constraint: what else the machine does makes a burst longer and nothing makes it shorter, so the least of many counts.

#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { DEPTH = 10, CALLS = 200, BURSTS = 3000 };

static struct {
  uint64_t words[1024];
} thread_of __attribute__((aligned(4096)));

// The thread's object, and what the thread knows it by.
static uint64_t object[8], handle[1];

static uint32_t slab[1 << 14] __attribute__((aligned(1 << 16)));

// The method with an entry and an exit, and with what they jump to.
#define METHOD(name, entry, exit, elsewhere) \
  extern void name(void); \
  __asm__(".p2align 6\n" #name ":\n" \
          "  mov %eax, -0x14000(%rsp)\n  push %rbp\n  sub $0x20, %rsp\n" entry \
          "  cmp $1, %esi\n  jle 1f\n  dec %esi\n  call " #name "\n" \
          "1: add $0x20, %rsp\n  pop %rbp\n" exit \
          "  cmp 0(%r15), %rsp\n  ja 9f\n  ret\n9: ud2\n" elsewhere);

#define LOAD(cursor, at) "  mov " at "(%r15), " cursor "\n  add $4, " cursor "\n  jle 2f\n"
#define STORE(cursor, at) "  mov " cursor ", " at "(%r15)\n"
#define SLOT(cursor) "  movl $77, -4(" cursor ")\n"
#define POLL_ENTRY "  xor %ax, %ax\n  cmpl $1, (%rax)\n  jg 9f\n"
#define POLL_EXIT "  and $-4096, %rcx\n  cmpl $0, (%rcx)\n  jne 9f\n"
#define CURSOR(cursor) LOAD(cursor, "0x80") STORE(cursor, "0x80") "2:\n"
#define TRACED(name, at) \
  METHOD(name, LOAD("%rax", at) SLOT("%rax") STORE("%rax", at) POLL_ENTRY "2:\n", \
         LOAD("%rcx", at) SLOT("%rcx") STORE("%rcx", at) POLL_EXIT "2:\n", "")

// The other way round: what a trace point does stands behind the method.
#define JUMP(cursor, to, back) "  mov 0x80(%r15), " cursor "\n  add $4, " cursor "\n  jg " to "f\n" back ":\n"
#define BEHIND(cursor, at, poll, back) at ":\n" SLOT(cursor) STORE(cursor, "0x80") poll "  jmp " back "b\n"

// As the second compiler makes it of bytecode: the cursor is a field of the thread's object, which is kept on the stack for the exit.
#define OBJECT "  mov 0x288(%r15), %r10\n  mov (%r10), %r10\n  mov %r10, 0x18(%rsp)\n"
#define BYTECODE(object) \
  "  mov 0x18(%r10), %r11\n  add $4, %r11\n" object "  mov %r11, 0x18(%r10)\n  movl $77, -4(%r11)\n"

METHOD(plain, "", "", "")
METHOD(of_bytecode, OBJECT BYTECODE("  mov 0x18(%rsp), %r10\n"), "  mov -16(%rsp), %r10\n" BYTECODE(""), "")
METHOD(cursor_alone, CURSOR("%rax"), CURSOR("%rcx"), "")
METHOD(behind, JUMP("%rax", "3", "4"), JUMP("%rcx", "5", "6"),
       BEHIND("%rax", "3", POLL_ENTRY, "4") BEHIND("%rcx", "5", POLL_EXIT, "6"))
TRACED(at_0x80, "0x80")
TRACED(at_0x3f8, "0x3f8")
TRACED(at_0x400, "0x400")
TRACED(at_0x7f8, "0x7f8")

static double nanos(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

// A call of a method, the cursor being at a word of the thread, or of its object (0); not traced: no cursor.
static double of(void (*method)(void), int at, int is_traced) {
  uint64_t* const cursor = at == 0 ? &object[3] : &thread_of.words[at / 8];
  double least = 1e9;
  thread_of.words[0] = UINT64_MAX;
  handle[0] = (uint64_t)object;
  thread_of.words[0x288 / 8] = (uint64_t)handle;
  for (int burst = 0; burst < BURSTS; burst++) {
    const double begun = nanos();
    for (int i = 0; i < CALLS; i++) {
      // Not at a page's begin, where the poll is.
      *cursor = is_traced ? (uint64_t)&slab[1040] : (uint64_t)INT64_MIN;
      __asm__ volatile("mov %0, %%r15\n  mov %2, %%esi\n  sub $128, %%rsp\n  call *%1\n  add $128, %%rsp"
                       : : "r"(&thread_of), "r"(method), "i"(DEPTH) : "rax", "rcx", "rsi", "r10", "r11", "r15", "memory", "cc");
    }
    const double took = (nanos() - begun) / (CALLS * DEPTH);
    least = took < least ? took : least;
  }
  return least;
}

int main(void) {
  static const struct {
    const char* name;
    void (*method)(void);
    int at;
    int is_traced;
  } variants[] = {
    {"none", plain, 0x80, 1},
    {"off", at_0x80, 0x80, 0},
    {"off, behind", behind, 0x80, 0},
    {"on, behind", behind, 0x80, 1},
    {"cursor alone", cursor_alone, 0x80, 1},
    {"on", at_0x80, 0x80, 1},
    {"on, at 0x3f8", at_0x3f8, 0x3f8, 1},
    {"on, at 0x400", at_0x400, 0x400, 1},
    {"on, at 0x7f8", at_0x7f8, 0x7f8, 1},
    {"of bytecode", of_bytecode, 0, 1},
  };
  double none = 0;
  for (unsigned i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
    const double call = of(variants[i].method, variants[i].at, variants[i].is_traced);
    none = i == 0 ? call : none;
    printf("%-14s %6.3f ns a call, %6.3f a trace point\n", variants[i].name, call, (call - none) / 2);
  }
}
