package org.renaissance;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.jar.JarFile;

/** Drives a plug-in as Renaissance does: named in its jar's manifest, in a class loader of its own. */
final class Suite {
    private Suite() {}

    /** Usage: Suite JAR OPERATIONS */
    public static void main(String[] args) throws Exception {
        String name;
        try (JarFile jar = new JarFile(args[0])) {
            name = jar.getManifest().getMainAttributes().getValue("Renaissance-Plugin");
        }
        URL[] urls = {Path.of(args[0]).toUri().toURL()};
        try (URLClassLoader loader = new URLClassLoader(urls, Suite.class.getClassLoader())) {
            Object plugin = loader.loadClass(name).getDeclaredConstructor().newInstance();
            int operations = Integer.parseInt(args[1]);
            for (int op = 0; op < operations; op++) {
                if (plugin instanceof Plugin.AfterOperationSetUpListener listener) {
                    listener.afterOperationSetUp("philosophers", op, op == operations - 1);
                }
                long start = System.nanoTime();
                System.out.println("operation " + op);
                long duration = System.nanoTime() - start;
                if (plugin instanceof Plugin.BeforeOperationTearDownListener listener) {
                    listener.beforeOperationTearDown("philosophers", op, duration);
                }
            }
        }
    }
}
