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
#include "lookback/tracePointAssembler.hpp"
#include "lookback/tracePoints.hpp"
#include "oops/method.hpp"

address TracePointAssembler::_slow_stub = NULL;

jint TracePointAssembler::slot(Method* method, bool is_exit) {
  const jint id = TracePoints::are_emitted() ? method->trace_id() : 0;
  return id == 0 || !is_exit ? id : id | LOOKBACK_TRACE_EXIT;
}
