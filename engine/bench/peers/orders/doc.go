// Package orders compares totals, sorted answers and answers with one or more documents per value with Lucene. Its tests need
// Java and the packages of Lucene 8.8.1, as Debian's liblucene8-java has them.
package orders
