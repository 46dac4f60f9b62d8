// Package shard spreads lists over several backends by ranges of documents, for lists that
// no device holds alone: Split cuts a source, Join answers from the stores of its parts as
// one store, Load does both.
//
// A part has the lists of the whole under the same handles, restricted to its documents,
// whose docIDs count from 0. All parts answer a batch at the same time. The answers of
// boolean queries are concatenated, because they are ascending. For ranked queries, the best
// documents of all parts are the best of the whole, because scores are integers that depend
// on the document and the query alone.
package shard
