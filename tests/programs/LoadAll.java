// Loads and links every class of some jars, so that the JVM verifies it, and says how each one failed.
//
// The constraint: nothing is initialised, or half of the libraries would start up; what is printed depends on
// the classes alone, so that two runs can be compared. Must not stop at the first failure.

import java.io.IOException;
import java.util.List;
import java.util.jar.JarFile;

/** Usage: LoadAll JAR... The jars are on the class path. */
final class LoadAll {
    private static int linked;
    private static int unlinkable;
    private static int verifyErrors;

    private LoadAll() {}

    public static void main(String[] args) throws IOException {
        for (String jar : args) {
            int before = linked;
            for (String name : classes(jar)) {
                load(name);
            }
            System.out.println(jar.substring(jar.lastIndexOf('/') + 1) + " " + (linked - before));
        }
        System.out.println("linked " + linked + " unlinkable " + unlinkable + " verify errors " + verifyErrors);
    }

    private static List<String> classes(String jar) throws IOException {
        try (JarFile file = new JarFile(jar)) {
            return file.stream()
                    .map(e -> e.getName())
                    .filter(n -> n.endsWith(".class") && !n.startsWith("META-INF/") && !n.endsWith("-info.class"))
                    .map(n -> n.substring(0, n.length() - 6).replace('/', '.'))
                    .sorted()
                    .toList();
        }
    }

    private static void load(String name) {
        try {
            Class<?> c = Class.forName(name, false, LoadAll.class.getClassLoader());
            // HotSpot links a class before it answers which methods it declares.
            int methods = c.getDeclaredMethods().length + c.getDeclaredConstructors().length;
            linked += methods < 0 ? 0 : 1;
        } catch (VerifyError | ClassFormatError e) {
            verifyErrors++;
            System.out.println("FAILED " + name + " " + e.getClass().getName());
        } catch (LinkageError | ClassNotFoundException | TypeNotPresentException e) {
            unlinkable++;
            System.out.println("UNLINKABLE " + name + " " + e.getClass().getName());
        }
    }
}
