// Package lists answers queries on the posting lists of indexes, on the processors of a pool. A Generation
// is the content of an index from one reload to the next. A task is one query, a stream is a call with
// many queries. Shared has the caches of results and filters of all indexes.
package lists
