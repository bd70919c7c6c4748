package dev.lookback.workloads.plain;

import dev.lookback.workloads.Checksum;
import dev.lookback.workloads.Clients;
import dev.lookback.workloads.Settings;
import dev.lookback.workloads.Workload;
import org.apache.commons.geometry.euclidean.threed.RegionBSPTree3D;
import org.apache.commons.geometry.euclidean.threed.Vector3D;
import org.apache.commons.geometry.euclidean.threed.line.LinecastPoint3D;
import org.apache.commons.geometry.euclidean.threed.line.Lines3D;
import org.apache.commons.geometry.euclidean.threed.shape.Sphere;
import org.apache.commons.numbers.core.Precision;

/**
 * Ray tracing with Commons Geometry: three faceted balls, as trees of planes, drawn with shadows and mirrors.
 *
 * <p>Most calls are of very small methods on vectors, which only inlining makes cheap. An item is a line of the picture.
 * Colours enter the checksum as whole numbers: all that is computed is of the strict arithmetic of Java 17.
 */
public final class RaytraceWorkload implements Workload {
    private static final Precision.DoubleEquivalence PRECISION = Precision.doubleEquivalenceOfEpsilon(1e-6);
    private static final Vector3D EYE = Vector3D.of(0, 0, -6);
    private static final Vector3D LAMP = Vector3D.of(-5, 8, -6);
    /** Times that a sphere's octahedron is divided: 128 planes a ball. */
    private static final int SUBDIVISIONS = 2;
    private static final int MIRRORS = 3;

    private final int width;
    private final int height;
    private final Clients clients;
    private final RegionBSPTree3D[] balls = {ball(-1.4, 0, 0.5, 1), ball(0.9, 0.3, 1, 1.2), ball(0.2, -1, -1, 0.6)};

    /** Builds the scene; 2 threads unless the settings say otherwise. */
    public RaytraceWorkload(Settings settings) {
        this.width = settings.size(40, 120);
        this.height = settings.size(30, 90);
        this.clients = new Clients("raytrace", settings.threadsOr(2));
    }

    private static RegionBSPTree3D ball(double x, double y, double z, double radius) {
        return Sphere.from(Vector3D.of(x, y, z), radius, PRECISION).toTree(SUBDIVISIONS);
    }

    @Override
    public long iterate() throws Exception {
        return clients.sum(height, this::line);
    }

    private long line(int row) {
        Checksum line = new Checksum();
        for (int column = 0; column < width; column++) {
            double x = (column - width / 2.0) / width * 4;
            double y = (height / 2.0 - row) / width * 4;
            line.add(Math.round(light(EYE, Vector3D.of(x, y, 5), MIRRORS) * 255));
        }
        return line.value();
    }

    /** How bright it is in that direction, from 0 to 1. */
    private double light(Vector3D from, Vector3D direction, int mirrors) {
        LinecastPoint3D hit = nearest(from, direction);
        if (hit == null) {
            double up = direction.normalize().getY();
            return 0.2 + 0.2 * Math.abs(up);
        }
        Vector3D normal = hit.getNormal();
        Vector3D point = hit.getPoint().add(normal.multiply(1e-4));
        Vector3D toLamp = LAMP.subtract(point);
        double shade = Math.max(0, normal.dot(toLamp.normalize()));
        if (shade > 0 && nearest(point, toLamp) != null) {
            shade = 0;
        }
        double own = 0.1 + 0.6 * shade;
        if (mirrors == 0) {
            return own;
        }
        Vector3D mirrored = direction.subtract(normal.multiply(2 * direction.dot(normal)));
        return own + 0.3 * light(point, mirrored, mirrors - 1);
    }

    private LinecastPoint3D nearest(Vector3D from, Vector3D direction) {
        LinecastPoint3D nearest = null;
        for (RegionBSPTree3D ball : balls) {
            LinecastPoint3D hit = ball.linecastFirst(Lines3D.rayFromPointAndDirection(from, direction, PRECISION));
            if (hit != null && (nearest == null
                    || hit.getPoint().distanceSq(from) < nearest.getPoint().distanceSq(from))) {
                nearest = hit;
            }
        }
        return nearest;
    }

    @Override
    public void close() {
        clients.close();
    }
}
