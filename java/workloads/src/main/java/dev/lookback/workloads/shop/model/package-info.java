/** What the shop talks about: plain values, which every layer may use and which know no layer. */
package dev.lookback.workloads.shop.model;
