// Package query turns queries into batches for backends: text into terms, terms into list
// handles, handles into a plan.MatchBatch or a plan.RankBatch, and the results of a backend
// into documents and scores.
package query
