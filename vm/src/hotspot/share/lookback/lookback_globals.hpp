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

#ifndef SHARE_LOOKBACK_LOOKBACK_GLOBALS_HPP
#define SHARE_LOOKBACK_LOOKBACK_GLOBALS_HPP

#include "runtime/globals_shared.hpp"

// Lookback's flags. With all of them off, the VM is the one it was.

#define LOOKBACK_FLAGS(develop,                                             \
                       develop_pd,                                          \
                       product,                                             \
                       product_pd,                                          \
                       notproduct,                                          \
                       range,                                               \
                       constraint)                                          \
                                                                            \
  product(bool, LookbackSampling, false,                                    \
          "Offer RequestStackTraces and RetrieveStackTraces to agents")     \
                                                                            \
  product(uintx, LookbackFramesPerSample, 16,                               \
          "How many callers' frames a sample records at once, before it "   \
          "leaves the others to returns")                                   \
          range(1, 1024)                                                    \
                                                                            \
  product(uintx, LookbackFramesPerTrap, 4,                                  \
          "How many callers' frames a trapped return records")              \
          range(1, 1024)                                                    \
                                                                            \
  product(bool, LookbackTracing, false,                                     \
          "Emit trace points into methods that an agent names, and offer "  \
          "the functions of lookback/tracePoints.h to agents; x86-64 only") \
                                                                            \
  product(bool, LookbackVerify, false, DIAGNOSTIC,                          \
          "Compare each incremental stack trace with a whole one that is "  \
          "taken at the same moment")

DECLARE_FLAGS(LOOKBACK_FLAGS)

#endif // SHARE_LOOKBACK_LOOKBACK_GLOBALS_HPP
