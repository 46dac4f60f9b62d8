// Package fields compares queries of an index with fields, and their scores, with Lucene. Its tests need Java and the packages of
// Lucene 8.8, as Debian's liblucene8-java has them.
package fields
