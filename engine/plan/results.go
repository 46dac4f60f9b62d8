package plan

import (
	"cmp"
	"time"
)

// Results of a batch. The caller owns them and reuses them; a Store overwrites them
// from the start and grows them if needed. After an error their content is
// undefined.
type Results struct {
	// Offsets has one entry a query and one more: query i matched
	// Offsets[i+1]-Offsets[i] documents.
	Offsets []uint64
	// Docs holds the matches, query after query, ascending within a query. It is
	// empty after a batch with CountOnly.
	Docs  []uint32
	Stats Stats

	// Borrow lets a store leave Docs in memory of its own, which saves a copy. The owner of the
	// results calls Reset soon, and before the store is closed: the store has little of this
	// memory. Default: Docs is memory of the results.
	Borrow bool
	own    []uint32 // the own memory of the results, while Docs is borrowed
	back   func()   // ends the loan; nil: Docs is not borrowed
}

// Count is the number of documents that query i matched.
func (r *Results) Count(i int) uint64 { return r.Offsets[i+1] - r.Offsets[i] }

// Query returns the docIDs of query i, a view into Docs.
func (r *Results) Query(i int) []uint32 {
	return r.Docs[r.Offsets[i]:r.Offsets[i+1]:r.Offsets[i+1]]
}

// Lend sets Docs to memory of a store. back returns this memory to the store.
func (r *Results) Lend(docs []uint32, back func()) {
	r.own, r.Docs, r.back = r.Docs, docs, back
}

// Reset empties the results, keeps their memory and gives borrowed memory back.
func (r *Results) Reset() {
	if r.back != nil {
		r.back()
		r.Docs, r.own, r.back = r.own, nil, nil
	}
	r.Offsets = append(r.Offsets[:0], 0)
	r.Docs = r.Docs[:0]
	r.Stats = Stats{}
}

// Stats is the cost of a batch. Device times come from the clock of the device.
// They are zero unless the backend was opened with profiling, and they overlap the
// times of concurrent batches. Bytes of transfers are exact. BytesMoved counts 4
// bytes for each word that a kernel loads or stores, without regard to caches. It is
// zero unless the backend was opened with load counting.
type Stats struct {
	Queries    uint64
	Candidates uint64 // sum of the lengths of the shortest lists of conjunctions
	Matches    uint64

	Postings uint64 // sum of the lengths of all lists of ranked queries
	// Blocks of compressed lists that conjunctions decoded. A device that counts loads counts the
	// blocks of gap codecs, and a block again for each tile of candidates that needs it; other
	// devices count none.
	Blocks uint64

	PhraseCandidates uint64 // documents with all words of a phrase, in any order
	Positions        uint64 // positions of words that were read in these documents
	DevicePositions  uint64 // part of Positions that a device read
	PhraseReason     string // why pure Go made lists of phrases beside a device, or parts of them; empty: there was no device, or it made all

	Pruned  uint64 // ranked queries by block-max pruning
	Widened uint64 // ranked queries that found fewer than K documents with all terms, and ran again for any term

	Filtered uint64 // queries with a filter
	// Sought is the number of these queries whose lists were searched for the documents of the
	// filter. The bits of the filter were tested for the remaining ones.
	Sought uint64

	// For selections, Decode is the decompression of vectors, and Probe is the OR of
	// vectors and all further steps.
	Decode   time.Duration // shortest lists to docIDs, all lists of ranked queries
	Probe    time.Duration // looking candidates up in the longer lists
	Compact  time.Duration // scan and gather
	Clear    time.Duration // zeroing accumulators in global memory
	Score    time.Duration // computing contributions of postings, and adding them up
	Select   time.Duration // finding the best documents of ranked queries; 0 if one launch computes scores and finds these documents
	Upload   time.Duration
	Download time.Duration
	Wall     time.Duration // time from call to return

	BytesUp    uint64
	BytesDown  uint64
	BytesMoved uint64
}

// Add sums s and t field by field.
func (s *Stats) Add(t Stats) {
	s.Queries += t.Queries
	s.Candidates += t.Candidates
	s.Matches += t.Matches
	s.Postings += t.Postings
	s.Blocks += t.Blocks
	s.PhraseCandidates += t.PhraseCandidates
	s.Positions += t.Positions
	s.DevicePositions += t.DevicePositions
	s.PhraseReason = cmp.Or(s.PhraseReason, t.PhraseReason)
	s.Pruned += t.Pruned
	s.Widened += t.Widened
	s.Filtered += t.Filtered
	s.Sought += t.Sought
	s.Decode += t.Decode
	s.Probe += t.Probe
	s.Compact += t.Compact
	s.Clear += t.Clear
	s.Score += t.Score
	s.Select += t.Select
	s.Upload += t.Upload
	s.Download += t.Download
	s.Wall += t.Wall
	s.BytesUp += t.BytesUp
	s.BytesDown += t.BytesDown
	s.BytesMoved += t.BytesMoved
}

// Kernel is the time of all kernels.
func (s *Stats) Kernel() time.Duration {
	return s.Decode + s.Probe + s.Compact + s.Clear + s.Score + s.Select
}
