// Package tolerant compares tolerant words, their documents and their scores with Lucene. Its tests need Java and the packages of
// Lucene 8.8, as Debian's liblucene8-java has them.
package tolerant
