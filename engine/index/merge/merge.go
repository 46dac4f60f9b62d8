// Package merge copies the documents of index files to another index, without some of them. The
// result of a merge equals the index that a build of the remaining documents writes.
package merge

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/engine/file/mapped"
	"heddle/engine/index/hdl"
	"heddle/engine/plan"
)

// Part is the documents First to End-1 of a file, without the deleted documents.
type Part struct {
	File       *hdl.File
	First, End uint32
	Deleted    *roaring.Bitmap // nil: none
}

// Whole is the part with all documents of a file that are not deleted.
func Whole(f *hdl.File, deleted *roaring.Bitmap) Part {
	return Part{File: f, End: f.Docs(), Deleted: deleted}
}

// Docs is the number of documents of the part.
func (p *Part) Docs() uint32 {
	docs := p.End - p.First
	if p.Deleted != nil && docs > 0 {
		docs -= uint32(p.Deleted.CardinalityInRange(uint64(p.First), uint64(p.End)))
	}
	return docs
}

// has reports whether a document of the range is not deleted.
func (p *Part) has(doc uint32) bool { return p.Deleted == nil || !p.Deleted.Contains(doc) }

// Output takes the content of an index, as an hdl.Writer does.
type Output interface {
	AddDocument(name string, lengths ...uint32) error
	AddStored(document []byte) error
	AddList(term string, docs, freqs []uint32) error
	AddPositions(values []uint32) error
}

// Meta describes the index of several parts for its writer. It takes the settings of
// the first part. Settings that differ, and more than 2³²-1 documents, are errors.
func Meta(parts []Part) (hdl.Meta, error) {
	first := parts[0].File.Meta()
	docs := uint64(0)
	var formats []string
	for i := range parts {
		m := parts[i].File.Meta()
		docs += uint64(parts[i].Docs())
		formats = append(formats, strings.FieldsFunc(m.Format, func(r rune) bool { return r == '+' })...)
		if err := Alike(&first, &m); err != nil {
			return first, fmt.Errorf("%s and %s: %w", parts[0].File.Path(), parts[i].File.Path(), err)
		}
	}
	if docs > math.MaxUint32 {
		return first, fmt.Errorf("%w: %d documents; an index has at most %d", hdl.ErrInput, docs, uint32(math.MaxUint32))
	}
	slices.Sort(formats)
	first.Docs, first.Format = uint32(docs), strings.Join(slices.Compact(formats), "+")
	return first, nil
}

// Alike returns an error that names the first setting by which two indexes differ, so that no
// index has the documents of both.
func Alike(a, b *hdl.Meta) error {
	for _, s := range []struct {
		name string
		a, b any
	}{
		{"analysis", a.Analysis, b.Analysis},
		{"codec", a.Codec, b.Codec},
		{"dense", a.Dense, b.Dense},
		{"exception ratio", a.ExceptionRatio, b.ExceptionRatio},
		{"precision of lengths", cmp.Or(a.Lengths, hdl.LengthsExact), cmp.Or(b.Lengths, hdl.LengthsExact)},
		{"stored documents", [3]any{a.Store, a.Text, a.ID}, [3]any{b.Store, b.Text, b.ID}},
		{"impacts", a.Impacts, b.Impacts},
		{"positions", a.Positions, b.Positions},
		{"fields", a.Fields, b.Fields},
	} {
		if x, y := fmt.Sprintf("%+v", s.a), fmt.Sprintf("%+v", s.b); x != y {
			return fmt.Errorf("the %s differ: %s and %s", s.name, x, y)
		}
	}
	return nil
}

// Copy adds the documents of all parts to an index, in the order of the parts: names and lengths,
// stored documents if the first part has some, and lists. Documents are numbered from 0 without gaps. A term
// without documents is left out, unless its lists were empty before.
//
// Progress is called with the postings of each list that was read. Memory is 8 bytes per posting of
// the longest list, and 4 bytes per document of a part with deleted documents.
func Copy(ctx context.Context, parts []Part, out Output, progress func(postings uint64)) (err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	for i := range parts {
		if err := parts[i].documents(ctx, out); err != nil {
			return err
		}
	}
	if parts[0].File.HasDocuments() {
		for i := range parts {
			if err := parts[i].stored(ctx, out); err != nil {
				return err
			}
		}
	}
	return lists(ctx, parts, out, progress)
}

// documents adds names and lengths.
func (p *Part) documents(ctx context.Context, out Output) error {
	var lengths []uint32
	for d, name := range p.File.Names(p.First) {
		if d >= p.End {
			break
		}
		if d%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if !p.has(d) {
			continue
		}
		lengths = p.File.AppendLengths(lengths[:0], d)
		if err := out.AddDocument(name, lengths...); err != nil {
			return err
		}
	}
	return nil
}

func (p *Part) stored(ctx context.Context, out Output) error {
	d := p.First
	return p.File.EachDocument(p.First, p.End, func(document []byte) error {
		d++
		if !p.has(d - 1) {
			return ctx.Err()
		}
		return cmp.Or(ctx.Err(), out.AddStored(document))
	})
}

// cursor reads the lists of a part in the order of their terms.
type cursor struct {
	*Part
	order   int      // number of the part
	base    uint32   // number of its first document in the result
	numbers []uint32 // numbers in the result of the documents of the part, from First on; nil: they follow one another
	next    func() (string, bool)
	term    string
	list    plan.Handle
}

// cursors opens the lists of all parts.
func cursors(parts []Part) (all heads, stop func()) {
	var ends []func()
	base := uint32(0)
	for i := range parts {
		c := &cursor{Part: &parts[i], order: i, base: base}
		if c.Docs() < c.End-c.First {
			c.number()
		}
		base += c.Docs()
		next, end := iter.Pull(c.File.Prefix(""))
		c.next, ends = next, append(ends, end)
		if term, ok := next(); ok {
			c.term = term
			all = append(all, c)
		}
	}
	heap.Init(&all)
	return all, func() {
		for _, end := range ends {
			end()
		}
	}
}

// number counts the documents that remain before each one.
func (c *cursor) number() {
	c.numbers = make([]uint32, c.End-c.First)
	n := uint32(0)
	for i := range c.numbers {
		c.numbers[i] = n
		if c.has(c.First + uint32(i)) {
			n++
		}
	}
}

// merged is the list of a term in the result.
type merged struct {
	docs, freqs      []uint32
	oldDocs, oldFreq []uint32 // memory of a list of a part
	values, old      []uint32 // of the positions, and memory of these of a part
	postings         uint64   // number of postings that were read
	empty            bool     // a list had no documents before
}

// add appends the documents of the present list of c.
func (l *merged) add(c *cursor) (err error) {
	if l.oldDocs, err = c.File.Source().List(c.list).AppendTo(l.oldDocs[:0]); err != nil {
		return fmt.Errorf("%s: list %d: %w", c.File.Path(), c.list, err)
	}
	if l.oldFreq, err = c.File.Freqs(l.oldFreq[:0], c.list); err != nil {
		return err
	}
	l.postings += uint64(len(l.oldDocs))
	l.empty = l.empty || len(l.oldDocs) == 0 && c.First == 0
	from, _ := slices.BinarySearch(l.oldDocs, c.First)
	rest, err := l.positions(c, from)
	if err != nil {
		return err
	}
	for i, d := range l.oldDocs[from:] {
		if d >= c.End {
			break
		}
		var own []uint32
		if rest != nil {
			own, rest = rest[:l.oldFreq[from+i]], rest[l.oldFreq[from+i]:]
		}
		if c.numbers == nil {
			d = d - c.First
		} else if c.has(d) {
			d = c.numbers[d-c.First]
		} else {
			continue
		}
		l.docs, l.freqs = append(l.docs, c.base+d), append(l.freqs, l.oldFreq[from+i])
		l.values = append(l.values, own...)
	}
	return nil
}

// positions returns the values of the present list of c from a posting on; nil without positions.
func (l *merged) positions(c *cursor, from int) (_ []uint32, err error) {
	if !c.File.HasPositions() {
		return nil, nil
	}
	if l.old, err = c.File.Positions(l.old[:0], c.list); err != nil {
		return nil, err
	}
	skip := uint64(0)
	for _, f := range l.oldFreq[:from] {
		skip += uint64(f)
	}
	return l.old[skip:], nil
}

// lists merges the lists of all parts.
func lists(ctx context.Context, parts []Part, out Output, progress func(uint64)) (err error) {
	all, stop := cursors(parts)
	defer stop()
	var l merged
	for len(all) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		term := all[0].term
		l.docs, l.freqs, l.values, l.postings, l.empty = l.docs[:0], l.freqs[:0], l.values[:0], 0, false
		for len(all) > 0 && all[0].term == term {
			c := all[0]
			if err := l.add(c); err != nil {
				return err
			}
			c.list++
			if next, ok := c.next(); ok {
				c.term = next
				heap.Fix(&all, 0)
			} else {
				heap.Pop(&all)
			}
		}
		if len(l.docs) > 0 || l.empty {
			if err := out.AddList(term, l.docs, l.freqs); err != nil {
				return err
			}
			if parts[0].File.HasPositions() {
				if err := out.AddPositions(l.values); err != nil {
					return err
				}
			}
		}
		progress(l.postings)
	}
	return nil
}

// heads is a heap of cursors by term, then by part.
type heads []*cursor

func (h heads) Len() int { return len(h) }
func (h heads) Less(i, j int) bool {
	return cmp.Or(strings.Compare(h[i].term, h[j].term), cmp.Compare(h[i].order, h[j].order)) < 0
}
func (h heads) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *heads) Push(x any)   { *h = append(*h, x.(*cursor)) }
func (h *heads) Pop() any {
	old := *h
	c := old[len(old)-1]
	*h = old[:len(old)-1]
	return c
}

// File writes the documents of all parts to an index file, through the writer that create returns. An
// error leaves nothing behind.
func File(ctx context.Context, parts []Part, create func(hdl.Meta) (*hdl.Writer, error)) (err error) {
	meta, err := Meta(parts)
	if err != nil {
		return err
	}
	w, err := create(meta)
	if err != nil {
		return err
	}
	if err := Copy(ctx, parts, w, func(uint64) {}); err != nil {
		return errors.Join(err, w.Abort())
	}
	return w.Commit()
}
