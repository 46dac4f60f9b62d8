package cluster

import (
	"fmt"
	"time"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/internal/layout"
)

// have returns the shards of an answer to a request for a group.
func (n *node) have(asked []int, shards []uint32, target *api.ShardTarget) ([]int, error) {
	if len(shards) == 0 { // the reply of a node that knows no groups, or of one shard
		if len(asked) > 1 {
			n.single.Store(instant(time.Now()))
		}
		return asked[:1], nil
	}
	have := make([]int, 0, len(shards))
	for _, i := range asked {
		if len(have) < len(shards) && shards[len(have)] == uint32(i) {
			have = append(have, i)
		}
	}
	if len(have) < len(shards) {
		return nil, wrongReply(target, "the shards %d for a request for %d", shards, asked)
	}
	return have, nil
}

// check refuses a reply of another epoch, with arrays that do not agree, or with documents that its shards
// do not have.
func check(a *api.ShardSearchResponse, target *api.ShardTarget, m *layout.Map, have []int, queries int, r *api.ShardSearchRequest) error {
	shards := len(have)
	bad := a.GetEpoch() != target.GetEpoch() || len(a.GetCounts()) != queries || len(a.GetEnds()) != queries ||
		r.GetK() == 0 && len(a.GetScores()) > 0 || r.GetK() > 0 && (len(a.GetScores()) != len(a.GetDocs()) || len(a.GetUnits()) != queries) || r.GetNames() && len(a.GetNames()) != len(a.GetDocs()) ||
		r.GetTotal() > 0 && len(a.GetTotals()) != queries ||
		shards > 1 && len(a.GetPlaces()) != len(a.GetDocs()) || a.GetOrdered() != (r.GetOrder() != nil) || len(a.GetKeys()) != columnsOf(r.GetOrder())*len(a.GetDocs()) ||
		r.GetOrder().GetCollapse() != "" && len(a.GetGroups()) != len(a.GetDocs()) || len(a.GetSeen()) != len(r.GetOrder().GetSeen()) && len(a.GetSeen())+len(a.GetErrors()) != 1
	last := uint64(0)
	for _, end := range a.GetEnds() {
		bad = bad || end < last || end > uint64(len(a.GetDocs()))
		last = end
	}
	docs := uint64(0)
	for _, shard := range have {
		docs += m.Shards[shard].Docs
	}
	for _, n := range a.GetTotals() {
		bad = bad || n > docs
	}
	for _, p := range a.GetPlaces() {
		bad = bad || uint64(p) >= uint64(shards)
	}
	if bad || !within(a.GetErrors(), queries) {
		return wrongReply(target, "epoch %d, %d counts, %d totals, %d ends, %d documents, %d scores, %d units, %d places and %d names for %d queries and %d shards", a.GetEpoch(), len(a.GetCounts()), len(a.GetTotals()), len(a.GetEnds()), len(a.GetDocs()), len(a.GetScores()), len(a.GetUnits()), len(a.GetPlaces()), len(a.GetNames()), queries, shards)
	}
	for i, doc := range a.GetDocs() {
		of := have[0]
		if shards > 1 {
			of = have[a.Places[i]]
		}
		if uint64(doc) >= m.Shards[of].Docs {
			return wrongReply(target, "document %d of shard %d, which has %d", doc, of, m.Shards[of].Docs)
		}
	}
	return nil
}

// columnsOf is the number of columns of an order.
func columnsOf(o *api.ShardOrder) (n int) {
	for _, k := range o.GetKeys() {
		if k != "score desc" && k != "score asc" {
			n++
		}
	}
	return n
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
