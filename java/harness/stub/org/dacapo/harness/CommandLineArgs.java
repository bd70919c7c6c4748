package org.dacapo.harness;

/** As DaCapo declares it; only to compile against. */
public class CommandLineArgs {}
