package shard

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"heddle/codec"
	"heddle/engine/file/container"
	"heddle/engine/plan"
)

// Part is a range of documents of a source.
type Part struct {
	First  uint32 // document of the whole that is document 0 here
	Source *plan.Source
}

// Split cuts src by documents into n parts of about as many postings each; some have no
// documents where there are fewer than n. A list keeps its codec where that takes fewer
// words than raw, else it is raw; frequencies and impacts are cut alike, lengths of
// documents are views into src. With n = 1 the part is src itself.
//
// It decodes every list twice, on all cores. Beside the parts, which together take about
// the room of src, it needs 16 bytes a posting of the longest list on each core. An error
// names the list, and errors.Is finds codec.ErrCorrupt in it; or it is ctx.Err().
func Split(ctx context.Context, src *plan.Source, n int) ([]Part, error) {
	if n < 1 {
		return nil, fmt.Errorf("shard: %d parts", n)
	}
	if err := src.Validate(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if n == 1 {
		return []Part{{Source: src}}, nil
	}
	s := splitter{src: src, pieces: piecesOf(src)}
	s.workers.New = func() any { return &worker{words: make([][]uint32, n), freqs: make([][]uint32, n)} }
	s.turn.L = &s.mu
	postings, err := s.count(ctx)
	if err != nil {
		return nil, err
	}
	s.open(postings, n)
	if err := container.Parallel(len(s.pieces)-1, func(i int) error { return s.split(ctx, i) }); err != nil {
		return nil, err
	}
	return s.parts, nil
}

// splitter makes the parts. Several goroutines cut pieces of consecutive lists, and
// append them to the parts in the order of the lists.
type splitter struct {
	src     *plan.Source
	pieces  []plan.Handle // first lists of pieces, and the number of lists
	parts   []Part
	workers sync.Pool // *worker

	mu     sync.Mutex
	turn   sync.Cond // next or failed has changed
	next   int       // piece that is to be appended
	failed bool
}

// worker is the memory of one goroutine.
type worker struct {
	docs, values []uint32   // docIDs and values of a list
	words, freqs [][]uint32 // words and frequencies of a piece, by part
}

// pieceLoad is how many postings, and lists, a piece has at least, if it is not the last.
const pieceLoad = 1 << 18

func piecesOf(src *plan.Source) []plan.Handle {
	pieces := []plan.Handle{0}
	load := uint64(0)
	for h, l := range src.Lists {
		if load += uint64(l.Len) + 16; load >= pieceLoad {
			pieces, load = append(pieces, plan.Handle(h+1)), 0
		}
	}
	if n := plan.Handle(len(src.Lists)); pieces[len(pieces)-1] < n {
		pieces = append(pieces, n)
	}
	return pieces
}

// open makes empty parts.
func (s *splitter) open(postings []uint64, n int) {
	cuts := cutsOf(postings, s.src.Docs, n)
	for i := range n {
		from, to := cuts[i], cuts[i+1]
		part := &plan.Source{Docs: to - from, Lists: make([]plan.List, len(s.src.Lists)), Impacts: s.src.Impacts}
		part.Words = make([]uint32, 0, room(len(s.src.Words), n))
		if s.src.Freqs != nil {
			part.Freqs = make([]uint32, 0, room(len(s.src.Freqs), n))
		}
		if len(s.src.Lengths) == int(s.src.Docs) { // else the source cannot be ranked
			part.Lengths = s.src.Lengths[from:to:to]
		}
		s.parts = append(s.parts, Part{First: from, Source: part})
	}
}

// room is a guess at the words of a part: an even share and a sixteenth. Pages of it that
// are not written take no memory; where it is too little, append finds more.
func room(words, n int) int { return words/n + words/n/16 }

// split cuts the lists of piece i.
func (s *splitter) split(ctx context.Context, i int) (err error) {
	w := s.workers.Get().(*worker)
	defer s.workers.Put(w)
	for p := range s.parts {
		w.words[p], w.freqs[p] = w.words[p][:0], w.freqs[p][:0]
	}
	for h := s.pieces[i]; h < s.pieces[i+1] && err == nil; h++ {
		if err = ctx.Err(); err == nil {
			err = s.cut(w, h)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.turn.Broadcast()
	for s.next < i && !s.failed && err == nil {
		s.turn.Wait()
	}
	if err != nil || s.failed { // pieces behind a failed one would wait for ever
		s.failed = true
		return err
	}
	for p := range s.parts {
		s.parts[p].take(w.words[p], w.freqs[p], s.pieces[i], s.pieces[i+1])
	}
	s.next++
	return nil
}

// take appends a piece, the lists from to to-1.
func (p *Part) take(words, freqs []uint32, from, to plan.Handle) {
	src := p.Source
	src.Words = align(src.Words)
	for h := from; h < to; h++ {
		src.Lists[h].Off += uint64(len(src.Words))
		src.Lists[h].FreqOff += uint64(len(src.Freqs))
	}
	src.Words = append(src.Words, words...)
	src.Freqs = append(src.Freqs, freqs...)
}

// cut encodes the documents of list h in each part, at the end of the worker's piece.
func (s *splitter) cut(w *worker, h plan.Handle) (err error) {
	if err := s.decode(w, h); err != nil {
		return err
	}
	if w.values = w.values[:0]; s.src.Freqs != nil {
		f, err := s.src.Freq(h)
		if err == nil {
			w.values, err = f.AppendTo(w.values)
		}
		if err != nil {
			return fmt.Errorf("shard: frequencies of list %d: %w", h, err)
		}
	}
	docs, values := w.docs, w.values
	for i := range s.parts {
		p := &s.parts[i]
		n, _ := slices.BinarySearch(docs, p.First+p.Source.Docs)
		mine := docs[:n]
		docs = docs[n:]
		for j := range mine {
			mine[j] -= p.First
		}
		w.words[i] = align(w.words[i])
		l := plan.List{Off: uint64(len(w.words[i])), FreqOff: uint64(len(w.freqs[i])), Len: uint32(n)}
		if w.words[i], l.Codec, err = appendList(w.words[i], s.src.Lists[h].Codec, mine); err != nil {
			return fmt.Errorf("shard: list %d: %w", h, err)
		}
		l.Words = uint32(uint64(len(w.words[i])) - l.Off)
		if s.src.Freqs != nil {
			if w.freqs[i], err = codec.AppendPacked(w.freqs[i], values[:n], codec.DefaultOptions()); err != nil {
				return fmt.Errorf("shard: frequencies of list %d: %w", h, err)
			}
			values = values[n:]
			l.FreqWords = uint32(uint64(len(w.freqs[i])) - l.FreqOff)
		}
		p.Source.Lists[h] = l
	}
	return nil
}

// decode puts the docIDs of list h into w.docs.
func (s *splitter) decode(w *worker, h plan.Handle) (err error) {
	if w.docs, err = s.src.List(h).AppendTo(w.docs[:0]); err != nil {
		return fmt.Errorf("shard: docIDs of list %d: %w", h, err)
	}
	if n := len(w.docs); n > 0 && w.docs[n-1] >= s.src.Docs {
		return fmt.Errorf("shard: %w: list %d has docID %d, there are %d documents", codec.ErrCorrupt, h, w.docs[n-1], s.src.Docs)
	}
	return nil
}

// appendList encodes docs with codec id, or raw where that takes no more words.
func appendList(dst []uint32, id codec.ID, docs []uint32) ([]uint32, codec.ID, error) {
	opt := codec.DefaultOptions()
	// A bitset of few documents far apart would take very many words.
	if id != codec.Bitset || codec.Size(id, docs, opt) < len(docs) {
		out, err := codec.Append(dst, id, docs, opt)
		if err != nil || len(out)-len(dst) < len(docs) {
			return out, id, err
		}
		dst = out[:len(dst)]
	}
	return append(dst, docs...), codec.Raw, nil
}

func align(words []uint32) []uint32 {
	for len(words)%plan.ListAlign != 0 {
		words = append(words, 0)
	}
	return words
}
