/** What the shop does, without HTTP and without SQL. */
package dev.lookback.workloads.shop.service;
