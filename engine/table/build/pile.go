package build

import (
	"context"
	"encoding/binary"
	"math"
	"sync"
	"sync/atomic"

	"heddle/codec/wah"
	"heddle/engine/file/container"
	"heddle/engine/table/column"
)

// groupRows is a number of rows that is a whole number of groups for both word sizes;
// runRows is the number of rows of a run.
const (
	groupRows = 31 * 63
	runRows   = 128 * groupRows
)

// pile is the compressed vectors of the bins of a column, and of its rows without a
// value, run of rows by run. Several goroutines may make its runs at a time; when all
// are made, it belongs to one.
type pile[W wah.Word] struct {
	c    *planned
	find finder
	file *temp
	held *atomic.Uint64 // bytes of runs in memory, of all columns
	most uint64         // greatest value of held; further runs go to the file

	mu      sync.Mutex
	bins    []column.Bin // bins; some may have no rows
	sets    int          // vectors of bins in a run: one for each, or one for all with column.None
	missing uint32       // rows without a value
	runs    []run[W]
}

// run is the vectors of a number of rows: whole groups, but in the last run.
type run[W wah.Word] struct {
	ends  []uint64 // where each vector ends, in words
	words []W      // nil: they lie in the file
	at    int64
}

func newPile[W wah.Word](b *builder, c *planned, runs int) *pile[W] {
	p := &pile[W]{c: c, file: b.spool, held: &b.held, most: b.opt.Memory}
	p.bins, p.find = noRows(nil, len(c.upper)), newFinder(c.upper)
	if p.sets = len(c.upper); c.Encoding == column.None {
		p.sets = 1
	}
	p.runs = make([]run[W], runs)
	return p
}

// noRows gives n bins without rows, in the memory of bins.
func noRows(bins []column.Bin, n int) []column.Bin {
	bins = bins[:0]
	for range n {
		bins = append(bins, column.Bin{Lo: math.MaxUint64})
	}
	return bins
}

// sorter makes runs. It belongs to one goroutine and is used again for the next run.
type sorter[W wah.Word] struct {
	blockReader
	builders []wah.Builder[W] // vectors of the bins, then of the rows without a value
	bins     []column.Bin
	missing  uint32
	words    int // number of words that the builders have made
}

// keptWords is after how many words builders give their memory back, which would hold
// the longest vector of each otherwise.
const keptWords = 1 << 20

// make makes run i of a pile: the rows of w.
func (s *sorter[W]) make(ctx context.Context, p *pile[W], i int, w window) error {
	n := p.sets
	s.bins, s.missing = noRows(s.bins, len(p.bins)), 0
	for len(s.builders) <= n {
		s.builders = append(s.builders, wah.Builder[W]{})
	}
	row := uint64(0)
	err := p.c.each(ctx, &s.blockReader, w, func(codes []uint64, missing []bool) error {
		if p.c.Encoding == column.None {
			s.count(&p.find, row, codes, missing)
		} else {
			s.add(&p.find, row, codes, missing)
		}
		row += uint64(len(codes))
		return nil
	})
	if err != nil {
		return err
	}
	words := 0
	for k := range n + 1 {
		words += s.builders[k].Words() + 2 // the last literal, zeros behind it
	}
	r := run[W]{words: make([]W, 0, words), ends: make([]uint64, n+1)}
	for k := range n + 1 {
		r.words = s.builders[k].AppendTo(r.words, row)
		r.ends[k] = uint64(len(r.words))
	}
	if s.words += words; s.words > keptWords {
		s.builders, s.words = nil, 0
	}
	return p.put(i, r, s)
}

// add takes rows, from row on.
func (s *sorter[W]) add(find *finder, row uint64, codes []uint64, missing []bool) {
	none := uint32(len(s.bins))
	bin, from, last := none, row, uint64(0) // the bin of the rows from one on, and the code of the last row
	for i, code := range codes {
		next := none
		if missing == nil || !missing[i] {
			if bin != none && code == last {
				continue
			}
			next, last = find.bin(code), code
			b := &s.bins[next]
			b.Lo, b.Hi = min(b.Lo, code), max(b.Hi, code)
		}
		if next != bin {
			s.run(bin, from, row+uint64(i))
			bin, from = next, row+uint64(i)
		}
	}
	s.run(bin, from, row+uint64(len(codes)))
}

// count takes rows, from row on, of a column whose bins have one vector.
func (s *sorter[W]) count(find *finder, row uint64, codes []uint64, missing []bool) {
	from := row // the first row behind the last one without a value
	for i, code := range codes {
		at := row + uint64(i)
		if missing == nil || !missing[i] {
			b := &s.bins[find.bin(code)]
			b.Lo, b.Hi, b.Rows = min(b.Lo, code), max(b.Hi, code), b.Rows+1
			continue
		}
		s.mark(0, from, at)
		s.mark(1, at, at+1)
		from = at + 1
		s.missing++
	}
	s.mark(0, from, row+uint64(len(codes)))
}

// mark adds rows to a vector.
func (s *sorter[W]) mark(vector uint32, from, to uint64) {
	switch to - from {
	case 0:
	case 1:
		s.builders[vector].Add(from)
	default:
		s.builders[vector].AddRun(from, to)
	}
}

// run adds rows of one bin, or without a value.
func (s *sorter[W]) run(bin uint32, from, to uint64) {
	s.mark(bin, from, to)
	if n := uint32(to - from); bin < uint32(len(s.bins)) {
		s.bins[bin].Rows += n
	} else {
		s.missing += n
	}
}

// put stores run i with the statistics of s about its bins.
func (p *pile[W]) put(i int, r run[W], s *sorter[W]) error {
	if size := p.size(&r); p.held.Add(size) > p.most {
		p.held.Add(-size)
		var err error
		if r.at, err = p.file.append(container.LittleBytes(r.words)); err != nil {
			return err
		}
		r.words = nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runs[i] = r
	p.missing += s.missing
	for k, b := range s.bins {
		all := &p.bins[k]
		all.Lo, all.Hi, all.Rows = min(all.Lo, b.Lo), max(all.Hi, b.Hi), all.Rows+b.Rows
	}
	return nil
}

// size is the memory of a run in bytes.
func (p *pile[W]) size(r *run[W]) uint64 {
	return uint64(cap(r.words)) * (wah.GroupBits[W]() + 1) / 8
}

// release frees the runs.
func (p *pile[W]) release() {
	for i := range p.runs {
		p.held.Add(-p.size(&p.runs[i]))
	}
	p.runs = nil
}

// vector gives vector i: in memory of buf, or a view.
func (p *pile[W]) vector(buf []W, i int) ([]W, error) {
	buf = buf[:0]
	for k := range p.runs {
		words, err := p.words(&p.runs[k], i)
		if err != nil || len(p.runs) == 1 {
			return words, err
		}
		buf = join(buf, words)
	}
	return buf, nil
}

// words gives vector i of a run.
func (p *pile[W]) words(r *run[W], i int) ([]W, error) {
	first := uint64(0)
	if i > 0 {
		first = r.ends[i-1]
	}
	if r.words != nil {
		return r.words[first:r.ends[i]:r.ends[i]], nil
	}
	words := make([]W, r.ends[i]-first)
	size := (wah.GroupBits[W]() + 1) / 8
	data := make([]byte, uint64(len(words))*size)
	if _, err := p.file.ReadAt(data, r.at+int64(first*size)); err != nil {
		return nil, err
	}
	_, err := binary.Decode(data, binary.LittleEndian, words)
	return words, err
}

// join appends the vector of the rows that follow the rows of dst. A fill that crosses
// the boundary stays one word: a word counts more groups than 2^32 rows have.
func join[W wah.Word](dst, more []W) []W {
	if n := len(dst); n > 0 && len(more) > 0 && wah.IsFill(dst[n-1]) && wah.IsFill(more[0]) {
		group, _ := wah.FillOf(dst[n-1])
		if next, groups := wah.FillOf(more[0]); next == group {
			dst[n-1] += W(groups)
			more = more[1:]
		}
	}
	return append(dst, more...)
}
