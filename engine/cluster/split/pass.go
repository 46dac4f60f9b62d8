package split

import (
	"errors"
	"slices"

	"heddle/engine/file/container"
	"heddle/engine/index/bm25"
	"heddle/engine/index/hdl"
)

// maxWriters is the number of shards that are written at a time, so it bounds memory and open
// files.
const maxWriters = 16

// A batch of lists is encoded on all cores, shard by shard. It has at least this many postings, or
// lists, unless it is the last.
const (
	batchPostings = 1 << 16
	batchLists    = 1 << 10
)

// pass writes consecutive shards of an index at the same time. It belongs to one goroutine.
type pass struct {
	parts    []part
	lucene   bool   // lengths are rounded
	document int    // part of the next document
	stored   int    // part of the next stored document
	terms    []list // lists of the terms of the batch
	docs     []uint32
	freqs    []uint32
	values   []uint32 // of positions, if the index has some
}

// part is a shard in progress.
type part struct {
	*hdl.Writer
	first, end        uint64 // documents of the pass
	documents, stored uint64 // so far
	local             []uint32
	positions         bool
}

// list is a list of the batch.
type list struct {
	term   string
	end    int // end of the list in docs and freqs
	values int // end of the list in values
}

// newPass starts the shards from to to-1.
func newPass(f *folder, meta hdl.Meta, cuts []uint64, from, to int) (*pass, error) {
	p := &pass{lucene: meta.Lengths == hdl.LengthsLucene}
	for i := from; i < to; i++ {
		meta.Docs = uint32(cuts[i+1] - cuts[i])
		w, err := hdl.Create(f.path(i), meta)
		if err != nil {
			return nil, errors.Join(err, p.abort())
		}
		p.parts = append(p.parts, part{Writer: w, positions: meta.Positions, first: cuts[i] - cuts[from], end: cuts[i+1] - cuts[from]})
	}
	return p, nil
}

// next returns the first part from *at on that wants one more of its documents, by the number so
// far that count returns.
func (p *pass) next(at *int, count func(*part) *uint64) *part {
	for {
		x := &p.parts[*at]
		if n := count(x); *n < x.end-x.first || *at == len(p.parts)-1 {
			*n++ // one too many is an error of the last Writer
			return x
		}
		*at++
	}
}

// AddDocument implements merge.Output.
func (p *pass) AddDocument(name string, lengths ...uint32) error {
	if p.lucene { // an index has the rounded lengths
		for i, n := range lengths {
			lengths[i] = bm25.RoundLength(n)
		}
	}
	return p.next(&p.document, func(x *part) *uint64 { return &x.documents }).AddDocument(name, lengths...)
}

// AddStored implements merge.Output.
func (p *pass) AddStored(document []byte) error {
	return p.next(&p.stored, func(x *part) *uint64 { return &x.stored }).AddStored(document)
}

// AddList implements merge.Output. The documents count from the first one of the pass.
func (p *pass) AddList(term string, docs, freqs []uint32) error {
	if len(p.docs) >= batchPostings || len(p.terms) >= batchLists {
		if err := p.flush(); err != nil {
			return err
		}
	}
	p.docs, p.freqs = append(p.docs, docs...), append(p.freqs, freqs...)
	p.terms = append(p.terms, list{term, len(p.docs), len(p.values)})
	return nil
}

// AddPositions implements merge.Output.
func (p *pass) AddPositions(values []uint32) error {
	p.values = append(p.values, values...)
	p.terms[len(p.terms)-1].values = len(p.values)
	return nil
}

// flush writes the batch.
func (p *pass) flush() error {
	err := container.Parallel(len(p.parts), func(i int) error {
		x, from, values := &p.parts[i], 0, 0
		for _, l := range p.terms {
			if err := x.cut(l.term, p.docs[from:l.end], p.freqs[from:l.end], p.values[values:l.values]); err != nil {
				return err
			}
			from, values = l.end, l.values
		}
		return nil
	})
	p.terms, p.docs, p.freqs, p.values = p.terms[:0], p.docs[:0], p.freqs[:0], p.values[:0]
	return err
}

// cut adds the documents of the shard in a list. A shard has the terms of its documents alone. The
// first shard also has the terms without any document, which some formats permit.
func (x *part) cut(term string, docs, freqs, values []uint32) error {
	from, _ := slices.BinarySearchFunc(docs, x.first, compare)
	to, _ := slices.BinarySearchFunc(docs, x.end, compare)
	if from == to && !(len(docs) == 0 && x.first == 0 && x.end > 0) {
		return nil
	}
	x.local = x.local[:0]
	for _, d := range docs[from:to] {
		x.local = append(x.local, d-uint32(x.first))
	}
	if err := x.AddList(term, x.local, freqs[from:to]); err != nil || !x.positions {
		return err
	}
	before := sum(freqs[:from])
	return x.AddPositions(values[before : before+sum(freqs[from:to])])
}

func sum(freqs []uint32) (n uint64) {
	for _, f := range freqs {
		n += uint64(f)
	}
	return n
}

func compare(doc uint32, cut uint64) int {
	switch {
	case uint64(doc) < cut:
		return -1
	case uint64(doc) > cut:
		return 1
	}
	return 0
}

// withTerms is the number of documents with at least one term, after commit.
func (p *pass) withTerms() (n uint64) {
	for i := range p.parts {
		n += uint64(p.parts[i].WithTerms())
	}
	return n
}

// commit completes the shards.
func (p *pass) commit() error {
	if err := p.flush(); err != nil {
		return err
	}
	for _, x := range p.parts {
		if err := x.Commit(); err != nil {
			return err
		}
	}
	return nil
}

// abort removes shards that are not complete.
func (p *pass) abort() error {
	var errs []error
	for _, x := range p.parts {
		errs = append(errs, x.Abort())
	}
	return errors.Join(errs...)
}
