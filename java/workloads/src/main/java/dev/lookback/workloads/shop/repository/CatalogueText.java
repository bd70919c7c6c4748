package dev.lookback.workloads.shop.repository;

import java.util.List;
import java.util.SplittableRandom;

/** Words and sentences of the generated catalogue; the load generator asks for the same words. */
public final class CatalogueText {
    /** First words of titles. */
    public static final List<String> QUALITIES = List.of("small", "large", "light", "heavy", "folding", "vintage",
            "modern", "round", "square", "outdoor", "compact", "adjustable", "waterproof", "handmade", "insulated",
            "striped", "curved", "portable", "stackable", "classic", "narrow", "wide", "quiet", "bright");
    /** Second words of titles. */
    public static final List<String> MATERIALS = List.of("oak", "pine", "steel", "copper", "cotton", "linen", "wool",
            "leather", "glass", "ceramic", "bamboo", "granite", "marble", "brass", "felt", "cork", "rattan", "walnut");
    /** What the thing is. */
    public static final List<String> THINGS = List.of("lamp", "table", "chair", "shelf", "kettle", "teapot", "bowl",
            "blanket", "cushion", "mirror", "clock", "basket", "bench", "cabinet", "curtain", "desk", "drawer",
            "grinder", "hammer", "heater", "jar", "knife", "ladder", "mug", "notebook", "pan", "planter", "rack",
            "rug", "scale", "stool", "tent", "toolbox", "torch", "towel", "tray", "umbrella", "vase", "wallet",
            "whisk");
    /** Departments. */
    public static final List<String> CATEGORIES = List.of("kitchen", "garden", "bedroom", "office", "workshop",
            "bathroom", "travel", "hallway", "kids", "lighting");
    private static final List<String> SENTENCES = List.of(
            "Made in small series by a family workshop with forty years of experience",
            "Every piece is checked by hand before it leaves the house",
            "The surface is oiled twice and resists water, wine and coffee",
            "Delivered flat with all tools that are needed for the assembly",
            "Spare parts are kept in stock for at least ten years",
            "Clean it with a damp cloth and a mild soap, never with steel wool",
            "Fits through narrow doors and up winding stairs",
            "The colours vary a little from batch to batch because they are natural",
            "Rated best of its class by three independent laboratories last year",
            "Carries up to eighty kilograms when it is screwed to the wall",
            "The packaging is cardboard and paper, without any plastic",
            "Goes well with the other pieces of the same collection",
            "Silent in use, so that it can stand next to a cradle",
            "Not suitable for the dishwasher, the microwave or open fire",
            "The hinges open slowly and close without a noise",
            "Designed for small apartments where every corner counts",
            "The seams are double and the corners are reinforced",
            "Includes a manual in twelve languages and a measuring tape",
            "Comes with a guarantee of five years against breakage and rust",
            "Winner of the regional prize for good design and honest materials");

    private CatalogueText() {
    }

    /** One of a list. */
    public static String pick(SplittableRandom random, List<String> words) {
        return words.get(random.nextInt(words.size()));
    }

    /** Quality, material and thing. */
    static String title(SplittableRandom random) {
        return pick(random, QUALITIES) + " " + pick(random, MATERIALS) + " " + pick(random, THINGS);
    }

    /** Sentences that also name related things, so that searches find more than titles. */
    static String description(SplittableRandom random) {
        StringBuilder text = new StringBuilder(1_000);
        for (int n = random.nextInt(9, 15); n > 0; n--) {
            text.append(pick(random, SENTENCES)).append(". ");
            if (n % 3 == 0) {
                text.append("Match it with a ").append(title(random)).append(". ");
            }
        }
        return text.toString().trim();
    }
}
