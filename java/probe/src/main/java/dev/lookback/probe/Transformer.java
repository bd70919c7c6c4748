package dev.lookback.probe;

import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * Puts probes into the classes of the application: those that Lookback traces, by the same rules.
 *
 * <p>A class that cannot be changed stays as it is: the program comes first.
 */
final class Transformer implements ClassFileTransformer {
    /** ASM knows class files up to JDK 25's; what is newer stays as it is. */
    private static final int NEWEST = Opcodes.V25;
    private static final int MAJOR_OFFSET = 6;

    private final Methods methods;
    private final boolean clock;

    Transformer(Methods methods, boolean clock) {
        this.methods = methods;
        this.clock = clock;
    }

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain,
            byte[] bytes) {
        boolean application = name != null && loader != null && loader != ClassLoader.getPlatformClassLoader()
                && !name.startsWith("java/") && !name.startsWith("jdk/internal/") && !name.startsWith("sun/")
                && !name.startsWith("dev/lookback/api/");
        int major = (bytes[MAJOR_OFFSET] & 0xff) << 8 | bytes[MAJOR_OFFSET + 1] & 0xff;
        if (!application || major > NEWEST || redefined != null) {
            return null;
        }
        try {
            return withProbes(bytes);
        } catch (RuntimeException | LinkageError e) {
            return null;
        }
    }

    /** The class with probes, or null when none of its methods gets one. */
    byte[] withProbes(byte[] bytes) {
        ClassReader reader = new ClassReader(bytes);
        ClassNode shape = new ClassNode();
        reader.accept(shape, ClassReader.SKIP_FRAMES | ClassReader.SKIP_DEBUG);
        if (shape.methods.stream().allMatch(Triviality::isTrivial)) {
            return null;
        }
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        reader.accept(new ClassVisitor(Opcodes.ASM9, writer) {
            private int next;

            @Override
            public MethodVisitor visitMethod(int access, String name, String descriptor, String signature,
                    String[] exceptions) {
                MethodVisitor plain = super.visitMethod(access, name, descriptor, signature, exceptions);
                // Both passes meet the methods in the order of the file.
                MethodNode method = shape.methods.get(next++);
                int id = Triviality.isTrivial(method) ? -1 : methods.add(shape.name, name, descriptor);
                return id < 0 ? plain : new Probe(plain, access, name, descriptor, id, clock);
            }
        }, ClassReader.EXPAND_FRAMES);
        return writer.toByteArray();
    }
}
