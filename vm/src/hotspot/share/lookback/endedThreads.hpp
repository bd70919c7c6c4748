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

#ifndef SHARE_LOOKBACK_ENDEDTHREADS_HPP
#define SHARE_LOOKBACK_ENDEDTHREADS_HPP

#include "jni.h"
#include "memory/allocation.hpp"

class RecorderList;
class StackRecorder;

// What ended threads have recorded, until it is retrieved.
//
// Constraint: bounded, for an agent may never retrieve it; what is beyond is counted.
class EndedThreads : public AllStatic {
 public:
  // Takes over the recorder of a thread that is about to be no more.
  static void keep(StackRecorder* recorder);

  // Moves all recorders to the list; tells how many stack traces were dropped.
  static jlong move_to(RecorderList* list);
};

#endif // SHARE_LOOKBACK_ENDEDTHREADS_HPP
