package cluster

import (
	"fmt"

	"heddle/engine"
	"heddle/engine/api"
)

// check refuses a reply of another epoch, or with arrays that do not agree.
func check(a *api.ShardSearchResponse, target *api.ShardTarget, queries int, r *api.ShardSearchRequest) error {
	bad := a.GetEpoch() != target.GetEpoch() || len(a.GetCounts()) != queries || len(a.GetEnds()) != queries ||
		r.GetK() > 0 && (len(a.GetScores()) != len(a.GetDocs()) || len(a.GetUnits()) != queries) || r.GetNames() && len(a.GetNames()) != len(a.GetDocs())
	last := uint64(0)
	for _, end := range a.GetEnds() {
		bad = bad || end < last || end > uint64(len(a.GetDocs()))
		last = end
	}
	if bad || !within(a.GetErrors(), queries) {
		return wrongReply(target, "epoch %d, %d counts, %d ends, %d documents, %d scores, %d units and %d names for %d queries", a.GetEpoch(), len(a.GetCounts()), len(a.GetEnds()), len(a.GetDocs()), len(a.GetScores()), len(a.GetUnits()), len(a.GetNames()), queries)
	}
	return nil
}

// checkTerms refuses a reply with arrays that do not agree.
func checkTerms(a *api.ShardTermsResponse, target *api.ShardTarget, texts int) error {
	bad := len(a.GetDf()) != len(a.GetTerms()) || len(a.GetEnds()) != texts || !within(a.GetErrors(), texts)
	last := uint32(0)
	for _, end := range a.GetEnds() {
		bad = bad || end < last || uint64(end) > uint64(len(a.GetNumbers()))
		last = end
	}
	for _, n := range a.GetNumbers() {
		bad = bad || uint64(n) >= uint64(len(a.GetTerms()))
	}
	if bad {
		return wrongReply(target, "%d terms, %d frequencies, %d numbers and %d ends for %d texts", len(a.GetTerms()), len(a.GetDf()), len(a.GetNumbers()), len(a.GetEnds()), texts)
	}
	return nil
}

// within reports whether all errors name one of some queries.
func within(errors []*api.BatchError, queries int) bool {
	for _, e := range errors {
		if uint64(e.GetQuery()) >= uint64(queries) {
			return false
		}
	}
	return true
}

func wrongReply(target *api.ShardTarget, format string, args ...any) error {
	return &engine.Error{Code: engine.Internal, Op: "search", Err: fmt.Errorf("shard %d of %s, epoch %d: the reply has %s",
		target.GetShard(), target.GetCollection(), target.GetEpoch(), fmt.Sprintf(format, args...))}
}
