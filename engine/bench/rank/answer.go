package rank

import "heddle/engine/bench/workload"

// Answer is the ranking of one query: a digest, and the documents if the query is in
// the sample.
type Answer struct {
	Digest uint64
	best   []scored
}

// asked identifies comparable answers.
type asked struct {
	mode workload.Mode
	k    int
}
