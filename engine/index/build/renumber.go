package build

import (
	"bufio"
	"errors"
	"math/bits"
	"math/rand/v2"
	"slices"

	"heddle/engine/file/scratch"
)

// renumbered is an output that numbers documents at random. Ao et al. 2011, section 6.2: line
// codecs compress such lists best. Names and texts wait in a temporary file until all are
// there. The numbering depends on the number of documents alone.
type renumbered struct {
	Output
	ids     []uint32 // the number of each document
	order   []uint32 // the document of each number
	lengths []uint32 // field by field of each document
	names   spool
	stored  spool
	list    []posted
	docs    []uint32
	freqs   []uint32
	values  []uint32
}

type posted struct {
	doc, freq uint32
	at        int // where its positions begin
}

// renumber returns out with a random numbering of documents. Its temporary files are in dir.
func renumber(out Output, docs uint32, dir string) (*renumbered, error) {
	r := &renumbered{Output: out, order: permutation(docs), ids: make([]uint32, docs)}
	for id, d := range r.order {
		r.ids[d] = uint32(id)
	}
	var err error
	if r.names, err = newSpool(dir); err != nil {
		return nil, err
	}
	if r.stored, err = newSpool(dir); err != nil {
		return nil, errors.Join(err, r.names.file.Close())
	}
	return r, nil
}

// permutation shuffles 0 to n-1 (Fisher and Yates), in the same way with every version of Go.
func permutation(n uint32) []uint32 {
	all := make([]uint32, n)
	for i := range all {
		all[i] = uint32(i)
	}
	pcg := rand.NewPCG(uint64(n), 20)
	for i := len(all) - 1; i > 0; i-- {
		j, _ := bits.Mul64(pcg.Uint64(), uint64(i+1))
		all[i], all[j] = all[j], all[i]
	}
	return all
}

// AddDocument keeps the document. The last one writes all of them.
func (r *renumbered) AddDocument(name string, lengths ...uint32) error {
	r.lengths = append(r.lengths, lengths...)
	if err := r.names.add([]byte(name)); err != nil || len(r.names.ends) < len(r.order) {
		return err
	}
	n := len(lengths)
	return r.names.each(r.order, func(d uint32, name []byte) error {
		return r.Output.AddDocument(string(name), r.lengths[int(d)*n:][:n]...)
	})
}

// AddStored keeps the document. The last one writes all of them.
func (r *renumbered) AddStored(document []byte) error {
	if err := r.stored.add(document); err != nil || len(r.stored.ends) < len(r.order) {
		return err
	}
	return r.stored.each(r.order, func(_ uint32, document []byte) error { return r.Output.AddStored(document) })
}

// AddPositions writes the positions of the list in the order of the new numbers of AddList.
func (r *renumbered) AddPositions(values []uint32) error {
	r.values = r.values[:0]
	for _, p := range r.list {
		r.values = append(r.values, values[p.at:][:p.freq]...)
	}
	return r.Output.AddPositions(r.values)
}

// AddList writes a list with the new numbers.
func (r *renumbered) AddList(term string, docs, freqs []uint32) error {
	r.list, r.docs, r.freqs = r.list[:0], r.docs[:0], r.freqs[:0]
	at := 0
	for i, d := range docs {
		r.list = append(r.list, posted{r.ids[d], freqs[i], at})
		at += int(freqs[i])
	}
	slices.SortFunc(r.list, func(a, b posted) int { return int(int64(a.doc) - int64(b.doc)) })
	for _, p := range r.list {
		r.docs, r.freqs = append(r.docs, p.doc), append(r.freqs, p.freq)
	}
	return r.Output.AddList(term, r.docs, r.freqs)
}

func (r *renumbered) Commit() error { return errors.Join(r.close(), r.Output.Commit()) }
func (r *renumbered) Abort() error  { return errors.Join(r.close(), r.Output.Abort()) }

func (r *renumbered) close() error { return errors.Join(r.names.file.Close(), r.stored.file.Close()) }

// spool is strings of bytes in a temporary file.
type spool struct {
	file *scratch.File
	out  *bufio.Writer
	ends []int64
	size int64
}

func newSpool(dir string) (r spool, err error) {
	if r.file, err = scratch.New(dir, ".heddle-*"); err == nil {
		r.out = bufio.NewWriter(r.file)
	}
	return r, err
}

func (r *spool) add(b []byte) error {
	r.size += int64(len(b))
	r.ends = append(r.ends, r.size)
	_, err := r.out.Write(b)
	return err
}

// each calls f with the records in an order.
func (r *spool) each(order []uint32, f func(i uint32, record []byte) error) error {
	if err := r.out.Flush(); err != nil {
		return err
	}
	var buf []byte
	for _, i := range order {
		from := int64(0)
		if i > 0 {
			from = r.ends[i-1]
		}
		n := int(r.ends[i] - from)
		buf = slices.Grow(buf[:0], n)[:n]
		if n > 0 {
			if _, err := r.file.ReadAt(buf, from); err != nil {
				return err
			}
		}
		if err := f(i, buf); err != nil {
			return err
		}
	}
	return nil
}
