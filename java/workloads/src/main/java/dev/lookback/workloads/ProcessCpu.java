package dev.lookback.workloads;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** CPU time of the whole process, all threads, user and system. Loaded only when asked for: it starts JMX. */
final class ProcessCpu {
    private ProcessCpu() {
    }

    /** Nanoseconds of CPU used since the process started. */
    static long nanos() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }
}
