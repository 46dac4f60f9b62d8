// Package examples has a small program for each task of a service that embeds heddle. They are the
// examples of this package, so the tests run them:
//
//   - embed an index: build it, open it, search
//   - batches: answer many queries in one call
//   - filters: search the documents of a predicate, and count them by attribute
//   - tables: select rows by a predicate
//   - aggregates: groups, sums and means of a table
//   - weights: terms with weights, and the operators of queries
//   - metrics: counters for Prometheus
//   - servers: the HTTP interface in a program
//   - nodes: a node of a cluster in a program
//
// python.ipynb is a notebook: BM25, learned weights and predicates in Python.
package examples
