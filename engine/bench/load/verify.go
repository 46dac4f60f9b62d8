package load

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math"

	"heddle/engine"
	"heddle/engine/api"
)

// wrong is the name of the error of an answer that differs from the one of the quiet server.
const wrong = "wrong"

// digest is a hash of the answer to a query: equal answers have equal digests. It is 0 for a query
// without an answer.
type digest uint64

var digestSeed = maphash.MakeSeed()

func digestOf(text []byte) digest { return digest(maphash.Bytes(digestSeed, text) | 1) }

func appendNumber(text []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(text, v) }

func digestOfCount(n uint64) []digest { return []digest{digestOf(appendNumber(nil, n))} }

func digestOfSearch(r *api.SearchResponse) []digest {
	text := appendNumber(nil, uint64(len(r.GetHits())))
	for _, h := range r.GetHits() {
		text = appendNumber(appendNumber(append(text, h.GetDoc()...), h.GetId()), math.Float64bits(h.GetScore()))
	}
	return []digest{digestOf(text)}
}

func digestOfMatch(r *api.MatchResponse) []digest {
	text := appendNumber(nil, r.GetCount())
	for _, d := range r.GetDocuments() {
		text = appendNumber(append(text, d.GetDoc()...), d.GetId())
	}
	return []digest{digestOf(text)}
}

// digestsOfBatch returns the digests of the queries of a batch. Broken arrays give other digests
// than sound ones.
func digestsOfBatch(r *api.SearchBatchResponse, queries int) []digest {
	all := make([]digest, queries)
	var text []byte
	from := uint64(0)
	for i := range all {
		text = text[:0]
		if i < len(r.GetCounts()) {
			text = appendNumber(text, r.GetCounts()[i])
		}
		to := from
		if i < len(r.GetEnds()) {
			to = r.GetEnds()[i]
		}
		for _, id := range part(r.GetIds(), from, to) {
			text = appendNumber(text, id)
		}
		for _, score := range part(r.GetScores(), from, to) {
			text = appendNumber(text, math.Float64bits(score))
		}
		all[i], from = digestOf(text), to
	}
	for _, e := range r.GetErrors() {
		if i := int(e.GetQuery()); i < queries {
			all[i] = 0
		}
	}
	return all
}

// part returns all[from:to], or less if all is shorter.
func part[T any](all []T, from, to uint64) []T {
	to = min(to, uint64(len(all)))
	return all[min(from, to):to]
}

// learn asks the quiet server for the answer to each topic, one request after the other.
func (r *run) learn(ctx context.Context) error {
	r.want = make([]digest, len(r.work.Topics))
	for i := 0; i*r.work.Batch < len(r.work.Topics); i++ {
		call, done := context.WithTimeout(ctx, r.opt.Timeout)
		got, err := r.work.ask(call, r.client, i, true)
		done()
		if code := engine.CodeOf(err); code == engine.InvalidQuery || code == engine.Unsupported {
			continue // and no load changes this
		}
		if err != nil {
			return fmt.Errorf("the answers of the quiet server: %w", err)
		}
		for n, d := range got.digests {
			r.want[(i*r.work.Batch+n)%len(r.want)] = d
		}
	}
	return nil
}

// differing returns the number of answers to request i that differ from the answers of the quiet server.
func (r *run) differing(i int, answers []digest) (n int) {
	for q, d := range answers {
		if d != 0 && d != r.want[(i*r.work.Batch+q)%len(r.want)] {
			n++
		}
	}
	return n
}
