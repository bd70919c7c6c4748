// Links every class named in a list, so that the JVM verifies it, and reports what fails.
//
// Constraint: linking must not initialize, or half of the JDK would start up. HotSpot links a
// class before it answers which constructors or fields it declares. Must not stop at the first failure.
//
// Usage: LinkAll LIST. Prints one line per failure and at the end
// "linked N classes, E verify errors, U unlinkable".

import java.nio.file.Files;
import java.nio.file.Path;

public final class LinkAll {
    private LinkAll() {
    }

    public static void main(String[] args) throws Exception {
        // Finds the classes of every module too, whichever loader they belong to.
        ClassLoader loader = ClassLoader.getSystemClassLoader();
        int linked = 0;
        int errors = 0;
        int unlinkable = 0;
        for (String name : Files.readAllLines(Path.of(args[0]))) {
            try {
                link(Class.forName(name, false, loader));
                linked++;
            } catch (VerifyError | ClassFormatError e) {
                errors++;
                System.out.println("FAILED " + name + ": " + e);
            } catch (LinkageError | TypeNotPresentException e) {
                // A library class whose optional dependency is not there.
                unlinkable++;
                System.out.println("UNLINKABLE " + name + ": " + e);
            } catch (ClassNotFoundException e) {
                unlinkable++;
                System.out.println("UNLINKABLE " + name + ": " + e);
            }
        }
        System.out.println("linked " + linked + " classes, " + errors + " verify errors, "
                + unlinkable + " unlinkable");
    }

    private static int link(Class<?> c) {
        // Class answers for the constructors of an interface without asking the JVM.
        return c.isInterface() ? c.getDeclaredFields().length : c.getDeclaredConstructors().length;
    }
}
