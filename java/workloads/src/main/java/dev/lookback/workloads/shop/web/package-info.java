/**
 * HTTP in, JSON out. Each handler's {@code handle...} method is one request from the inside: the method to
 * watch for slow requests.
 */
package dev.lookback.workloads.shop.web;
