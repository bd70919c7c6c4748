package org.dacapo.harness;

/** The part of DaCapo's that a callback sees. */
public class CommandLineArgs {
    final int iterations;

    CommandLineArgs(int iterations) {
        this.iterations = iterations;
    }
}
