package tablebuild

import (
	"encoding/binary"
	"math"

	"heddle/codec/wah"
	"heddle/engine/column"
)

// pile collects the rows of each bin of a column, and those without a value, as
// compressed vectors. What is over its budget goes to a file. It belongs to one
// goroutine at a time.
type pile[W wah.Word] struct {
	find   *finder
	budget uint64 // bytes
	file   *temp

	bins     []column.Bin     // of which there may be some without rows
	missing  uint32           // rows without a value
	builders []wah.Builder[W] // of the bins, then of rows without a value
	row      uint64           // the next one
	start    uint64           // row that is the first of the builders
	runs     []run[W]         // of the rows before start
}

// run is the vectors of a number of rows, whole groups but for the last run.
type run[W wah.Word] struct {
	ends  []uint64 // in words, of each vector
	words []W      // nil: they lie in the file
	at    int64
}

func newPile[W wah.Word](find *finder, budget uint64, file *temp) *pile[W] {
	p := &pile[W]{find: find, budget: budget, file: file}
	p.bins = make([]column.Bin, len(find.upper))
	for i := range p.bins {
		p.bins[i].Lo = math.MaxUint64
	}
	p.builders = make([]wah.Builder[W], len(p.bins)+1)
	return p
}

// stepGroups is how many groups of rows a pile takes between looks at its size.
const stepGroups = 512

// add takes the next rows.
func (p *pile[W]) add(codes []uint64, missing []bool) error {
	step := stepGroups * wah.GroupBits[W]()
	for len(codes) > 0 {
		n := min(uint64(len(codes)), step-p.row%step)
		var of []bool
		if missing != nil {
			of, missing = missing[:n], missing[n:]
		}
		p.addRows(codes[:n], of)
		codes = codes[n:]
		if p.row%step == 0 && p.size() > p.budget {
			if err := p.spill(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *pile[W]) addRows(codes []uint64, missing []bool) {
	none := uint32(len(p.bins))
	from, row := p.row-p.start, p.row-p.start
	last := none
	flush := func() {
		n := row - from
		switch {
		case last < none:
			p.bins[last].Rows += uint32(n)
		default:
			p.missing += uint32(n)
		}
		if n == 1 {
			p.builders[last].Add(from)
		} else {
			p.builders[last].AddRun(from, row)
		}
		from = row
	}
	for i, code := range codes {
		bin := none
		if missing == nil || !missing[i] {
			bin = p.find.bin(code)
			b := &p.bins[bin]
			b.Lo, b.Hi = min(b.Lo, code), max(b.Hi, code)
		}
		if bin != last {
			flush()
			last = bin
		}
		row++
	}
	flush()
	p.row += uint64(len(codes))
}

// size is about what the builders take, in bytes.
func (p *pile[W]) size() uint64 {
	words := 0
	for i := range p.builders {
		words += p.builders[i].Words()
	}
	const slack = 2 // of slices that grow
	return slack * uint64(words) * (wah.GroupBits[W]() + 1) / 8
}

// end makes a run of the builders, in memory.
func (p *pile[W]) end() run[W] {
	words := 0
	for i := range p.builders {
		words += p.builders[i].Words() + 2 // the last literal, zeros behind it
	}
	r := run[W]{words: make([]W, 0, words)}
	for i := range p.builders {
		r.words = p.builders[i].AppendTo(r.words, p.row-p.start)
		r.ends = append(r.ends, uint64(len(r.words)))
		p.builders[i] = wah.Builder[W]{}
	}
	return r
}

// spill writes the builders to the file.
func (p *pile[W]) spill() error {
	r := p.end()
	data, err := binary.Append(nil, binary.LittleEndian, r.words)
	if err != nil {
		return err
	}
	r.at, err = p.file.append(data)
	r.words = nil
	p.runs = append(p.runs, r)
	p.start = p.row
	return err
}

// finish ends the vectors.
func (p *pile[W]) finish() {
	p.runs = append(p.runs, p.end())
	p.builders = nil
}

// vector gives vector i: in memory of buf, or a view.
func (p *pile[W]) vector(buf []W, i int) ([]W, error) {
	if len(p.runs) == 1 {
		return p.runs[0].vector(i), nil
	}
	buf = buf[:0]
	for _, r := range p.runs {
		words := r.vector(i)
		if r.words == nil {
			words = make([]W, r.ends[i]-r.first(i))
			size := wah.GroupBits[W]() + 1
			data := make([]byte, uint64(len(words))*size/8)
			if _, err := p.file.ReadAt(data, r.at+int64(r.first(i)*size/8)); err != nil {
				return nil, err
			}
			if _, err := binary.Decode(data, binary.LittleEndian, words); err != nil {
				return nil, err
			}
		}
		buf = join(buf, words)
	}
	return buf, nil
}

func (r *run[W]) first(i int) uint64 {
	if i == 0 {
		return 0
	}
	return r.ends[i-1]
}

func (r *run[W]) vector(i int) []W {
	if r.words == nil {
		return nil
	}
	return r.words[r.first(i):r.ends[i]]
}

// join appends the vector of rows that follow those of dst. A fill goes on in one word:
// a word counts more groups than 2^32 rows have.
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
