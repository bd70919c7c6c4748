/**
 * A small web shop to trace: embedded Tomcat, servlet, services, JDBC on H2, a Lucene index.
 *
 * <p>It is layered as such programs are: web -> service -> repository, with the model beside them. One
 * real defect is built in (see {@link dev.lookback.workloads.shop.Cause}); nothing in it sleeps or burns
 * time on purpose. It must listen on the loopback address only.
 */
package dev.lookback.workloads.shop;
