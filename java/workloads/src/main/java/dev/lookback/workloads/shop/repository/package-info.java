/** The shop's tables and the SQL on them; nothing above this layer sees a JDBC type. */
package dev.lookback.workloads.shop.repository;
