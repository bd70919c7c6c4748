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

#ifndef SHARE_LOOKBACK_TRACEPOINTSEXTENSION_HPP
#define SHARE_LOOKBACK_TRACEPOINTSEXTENSION_HPP

#include "jvmtifiles/jvmti.h"
#include "memory/allocation.hpp"
#include "utilities/growableArray.hpp"

// Offers the functions of tracePoints.h to agents.
class TracePointsExtension : public AllStatic {
 public:
  // Appends the functions, if they are asked for by flag.
  static void add_to(GrowableArray<jvmtiExtensionFunctionInfo*>* functions);
};

#endif // SHARE_LOOKBACK_TRACEPOINTSEXTENSION_HPP
