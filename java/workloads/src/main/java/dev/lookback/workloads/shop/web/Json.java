package dev.lookback.workloads.shop.web;

import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** Reads and writes JSON bodies. */
public final class Json {
    private static final ObjectMapper MAPPER = JsonMapper.builder()
            .disable(MapperFeature.DEFAULT_VIEW_INCLUSION)
            .build();

    private Json() {
    }

    /** The value in a body. */
    public static <T> T read(byte[] body, Class<T> type) throws IOException {
        return MAPPER.readValue(body, type);
    }

    /** Those members of a value that belong to the view. */
    public static byte[] bytes(Class<?> view, Object value) throws IOException {
        return MAPPER.writerWithView(view).writeValueAsBytes(value);
    }

    /** Answers with those members of a value that belong to the view. */
    static void write(HttpServletResponse response, int status, Class<?> view, Object value) throws IOException {
        byte[] body = bytes(view, value);
        response.setStatus(status);
        response.setContentType("application/json");
        response.setContentLength(body.length);
        response.getOutputStream().write(body);
    }
}
