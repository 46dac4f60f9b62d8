package ranked

import "heddle/engine/bench/harness"

// rankAnswer is the ranking of one query: its digest, and itself where it is sampled.
type Answer struct {
	Digest uint64
	best   []scored
}

// rankAsked is what makes answers comparable.
type asked struct {
	mode harness.Mode
	k    int
}
