package build

import (
	"bytes"
	"container/heap"
	"context"
	"encoding/binary"
	"iter"
)

// texts are texts in ascending order, with their numbers of rows, in pieces of a temporary file.
type texts struct {
	file   *temp
	pieces []piece
	n      uint64
	buf    []byte // bytes of the last piece, until flush
}

// piece is a part of a temporary file.
type piece struct {
	at int64
	n  int
}

// pieceBytes is the size of a piece, at least, but of the last.
const pieceBytes = 16 << 10

// add adds a text.
func (t *texts) add(text []byte, rows uint64) error {
	t.buf = binary.AppendUvarint(append(binary.AppendUvarint(t.buf, uint64(len(text))), text...), rows)
	t.n++
	if len(t.buf) < pieceBytes {
		return nil
	}
	return t.flush()
}

// flush writes the last piece.
func (t *texts) flush() error {
	if len(t.buf) == 0 {
		return nil
	}
	at, err := t.file.append(t.buf)
	t.pieces = append(t.pieces, piece{at, len(t.buf)})
	t.buf = t.buf[:0]
	return err
}

// all gives the texts. Each is valid until the next.
func (t *texts) all() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for r := (textReader{texts: t}); r.next(); {
			if !yield(r.text, r.err) {
				return
			}
		}
	}
}

// textReader reads texts.
type textReader struct {
	*texts
	at   int // index of the next piece
	buf  []byte
	rest []byte // bytes of a piece that are not read

	text []byte
	rows uint64
	err  error // error of the last next that returned true
}

// next goes to the next text, or to an error, and reports whether there is one.
func (r *textReader) next() bool {
	if len(r.rest) == 0 {
		if r.at == len(r.pieces) || r.err != nil {
			return false
		}
		p := r.pieces[r.at]
		r.at++
		if cap(r.buf) < p.n {
			r.buf = make([]byte, p.n)
		}
		r.rest = r.buf[:p.n]
		if _, r.err = r.file.ReadAt(r.rest, p.at); r.err != nil {
			r.rest, r.text = nil, nil
			return true
		}
	}
	n, size := binary.Uvarint(r.rest)
	r.text, r.rest = r.rest[size:][:n], r.rest[size+int(n):]
	r.rows, size = binary.Uvarint(r.rest)
	r.rest = r.rest[size:]
	return true
}

// generation is the texts of consecutive blocks of a column, whose numbers count in the generation.
type generation struct {
	texts
	blocks int      // number of blocks of the column, up to the last block of the generation
	ids    []block  // the numbers, in the order of the texts
	keys   []block  // the places of the texts among the texts of all generations, in the same order
	pair   []uint64 // numbers, or places, of the next block
	bytes  []byte   // bytes of the next block
}

// pairRows is the number of texts in a block of ids or keys.
const pairRows = 4096

// spill ends a generation: it writes the texts of the dictionary, which is empty then.
func (c *collected) spill(file *temp) error {
	g := &generation{texts: texts{file: file}, blocks: len(c.blocks)}
	c.generations = append(c.generations, g)
	order := c.strings.sorted()
	for _, k := range order {
		if err := g.add(c.strings.text(k.id), uint64(c.strings.entry(k.id).rows)); err != nil {
			return err
		}
	}
	if err := g.texts.flush(); err != nil {
		return err
	}
	for i, k := range order {
		if err := g.put(&g.ids, uint64(k.id), i+1 == len(order)); err != nil {
			return err
		}
	}
	c.strings.reset()
	return nil
}

// put adds a number to the last of some blocks, and writes a block if it is full or the last one.
func (g *generation) put(list *[]block, number uint64, last bool) error {
	if g.pair = append(g.pair, number); len(g.pair) < pairRows && !last {
		return nil
	}
	b, err := g.file.block(&g.bytes, g.pair, nil)
	*list, g.pair = append(*list, b), g.pair[:0]
	return err
}

// unite makes one dictionary of the generations of a column, and rewrites its blocks with the places
// of the texts.
func (c *collected) unite(ctx context.Context, file *temp) error {
	if err := c.spill(file); err != nil {
		return err
	}
	c.strings, c.dictionary.file = dictionary{}, file
	var m textMerger
	for _, g := range c.generations {
		m.open(g)
	}
	for len(m.heap) > 0 && m.err == nil {
		text, rows := m.heap[0].text, uint64(0)
		m.text = append(m.text[:0], text...)
		for len(m.heap) > 0 && bytes.Equal(m.heap[0].text, m.text) && m.err == nil {
			rows += m.heap[0].rows
			m.next(c.dictionary.n)
		}
		if m.err != nil {
			return m.err
		}
		c.keys.AddRows(c.dictionary.n, rows)
		if err := c.dictionary.add(m.text, rows); err != nil {
			return err
		}
		if c.dictionary.n%pairRows == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if m.err != nil {
		return m.err
	}
	if err := c.dictionary.flush(); err != nil {
		return err
	}
	return c.renumber(ctx, file)
}

// textMerger merges the texts of generations.
type textMerger struct {
	heap textHeap // by text
	text []byte
	err  error
}

// textHead is the next text of a generation.
type textHead struct {
	textReader
	of   *generation
	left uint64 // texts, with the next one
}

// open adds a generation.
func (m *textMerger) open(g *generation) {
	h := &textHead{textReader: textReader{texts: &g.texts}, of: g, left: g.n}
	if g.pair = g.pair[:0]; h.next() {
		m.err = h.err
		heap.Push(&m.heap, h)
	}
}

// next notes the place of the least text, and goes to the next of its generation.
func (m *textMerger) next(place uint64) {
	h := m.heap[0]
	h.left--
	if m.err = h.of.put(&h.of.keys, place, h.left == 0); m.err != nil {
		return
	}
	if !h.next() {
		heap.Pop(&m.heap)
		return
	}
	m.err = h.err
	heap.Fix(&m.heap, 0)
}

// renumber rewrites the blocks of a column: the place of a text among all takes the place of its
// number in its generation.
func (c *collected) renumber(ctx context.Context, file *temp) error {
	var places []uint32 // by number: the place of the text
	var ids, keys blockReader
	from := 0
	for _, g := range c.generations {
		if uint64(cap(places)) < g.n {
			places = large[uint32](int(g.n))
		}
		for i := range g.ids {
			id, _, err := ids.read(file, &g.ids[i])
			if err != nil {
				return err
			}
			key, _, err := keys.read(file, &g.keys[i])
			if err != nil {
				return err
			}
			for k, id := range id {
				places[:g.n][id] = uint32(key[k])
			}
		}
		for i := from; i < g.blocks; i++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			b := &c.blocks[i]
			numbers, missing, err := ids.read(file, b)
			if err != nil {
				return err
			}
			for row, number := range numbers {
				if missing == nil || !missing[row] {
					numbers[row] = uint64(places[number])
				}
			}
			first := b.first
			if *b, err = file.block(&c.bytes, numbers, missing); err != nil {
				return err
			}
			b.first = first
		}
		from = g.blocks
	}
	c.generations = nil
	return nil
}

// textHeap implements heap.Interface.
type textHeap []*textHead

func (h textHeap) Len() int           { return len(h) }
func (h textHeap) Less(i, k int) bool { return bytes.Compare(h[i].text, h[k].text) < 0 }
func (h textHeap) Swap(i, k int)      { h[i], h[k] = h[k], h[i] }
func (h *textHeap) Push(x any)        { *h = append(*h, x.(*textHead)) }
func (h *textHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
