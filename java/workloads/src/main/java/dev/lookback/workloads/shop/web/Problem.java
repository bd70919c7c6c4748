package dev.lookback.workloads.shop.web;

import com.fasterxml.jackson.annotation.JsonView;
import dev.lookback.workloads.shop.model.Views;

/**
 * The body of an answer that is not what was asked for.
 *
 * @param error what is wrong, for the client
 */
record Problem(@JsonView(Views.Summary.class) String error) {
}
