package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"heddle/engine/table/binning"
	"heddle/engine/table/column"
	"heddle/engine/table/hdb"
	"heddle/engine/table/read"
)

// collected is a column after the first pass: its keys in blocks of a temporary file,
// and the sample from which bins are chosen.
type collected struct {
	read.Field
	part            hdb.Part
	of              int // the column of the table
	rows            uint64
	blocks          []block
	missing         uint64 // rows without a value
	least, greatest uint64 // least and greatest key so far; 1 and 0 if there are no keys
	keys            binning.Collector
	scaled          scaled // decimal scale of a Float

	// Of a type with a dictionary: the keys of a block are numbers of texts in its generation, and
	// places in the dictionary at the end.
	strings     dictionary // strings of the current generation
	generations []*generation
	dictionary  texts

	present []uint64 // scratch: keys of rows with a value
	codes   []uint64 // scratch: of strings
	bytes   []byte   // bytes of the current block
	err     error
}

// collect reads src to its end.
func (b *builder) collect(ctx context.Context, src read.Source) error {
	b.start(src.Fields())
	var batch read.Batch
	for {
		err := src.Next(ctx, &batch)
		if err == io.EOF {
			return b.unite(ctx)
		}
		if err != nil {
			return err
		}
		if b.rows+uint64(batch.Rows) > math.MaxUint32 {
			return errors.New("more than 4294967295 rows, the most that a table can have")
		}
		if err := b.take(&batch); err != nil {
			return err
		}
		b.rows += uint64(batch.Rows)
		done, total := src.Progress()
		b.opt.Progress(Progress{Done: done, Total: total, Rows: b.rows})
	}
}

// take adds a batch to all columns, several at a time.
func (b *builder) take(batch *read.Batch) error {
	values := b.stored(batch)
	read.Parallel(len(b.columns), func(i int) { b.columns[i].take(values[i]) })
	for i, c := range b.columns {
		if c.err != nil {
			return fmt.Errorf("column %q: %w", c.Name, c.err)
		}
		n := len(values[i].Keys)
		if c.Type.HasDictionary() {
			n = len(values[i].Ends)
		}
		if n == 0 { // no value in this batch
			continue
		}
		last := &c.blocks[len(c.blocks)-1]
		last.first = c.rows
		if c.rows += uint64(n); c.rows > math.MaxUint32 {
			return fmt.Errorf("column %q: more than 4294967295 values, the most that a column can have", c.Name)
		}
		var err error
		if last.at, err = b.spool.append(c.bytes); err != nil {
			return err
		}
	}
	return b.spill()
}

// spill ends generations of texts, the largest first, until the rest fits in memory.
func (b *builder) spill() error {
	for {
		all, largest := uint64(0), b.columns[0]
		for _, c := range b.columns {
			if all += c.strings.memory(); c.strings.memory() > largest.strings.memory() {
				largest = c
			}
		}
		if all <= b.opt.Memory {
			return nil
		}
		if err := largest.spill(b.spool); err != nil {
			return fmt.Errorf("column %q: %w", largest.Name, err)
		}
	}
}

// unite makes the dictionaries: together if all texts are in memory, else one after the other, which bounds the memory.
func (b *builder) unite(ctx context.Context) error {
	spilled := slices.ContainsFunc(b.columns, func(c *collected) bool { return len(c.generations) > 0 })
	one := func(i int) {
		if c := b.columns[i]; c.Type.HasDictionary() {
			c.err = c.unite(ctx, b.spool)
		}
	}
	if !spilled {
		read.Parallel(len(b.columns), one)
	}
	for i, c := range b.columns {
		if spilled {
			one(i)
		}
		if c.err != nil {
			return fmt.Errorf("column %q: %w", c.Name, c.err)
		}
	}
	return nil
}

// extremes returns the least and the greatest of keys, at least one.
func extremes(keys []uint64) (least, greatest uint64) {
	least, greatest = keys[0], keys[0]
	for _, k := range keys {
		least, greatest = min(least, k), max(greatest, k)
	}
	return least, greatest
}

// take makes a block of values.
func (c *collected) take(v *read.Values) {
	keys := v.Keys
	if len(keys) == 0 && len(v.Ends) == 0 {
		return
	}
	if c.Type.HasDictionary() {
		if keys, c.err = c.strings.codes(c.codes[:0], v); c.err != nil {
			return
		}
		c.codes = keys
	}
	present := keys
	if len(v.Missing) > 0 {
		c.present = c.present[:0]
		for i, k := range keys {
			if !v.Missing[i] {
				c.present = append(c.present, k)
			}
		}
		present = c.present
		c.missing += uint64(len(keys) - len(present))
	}
	var least, greatest uint64
	if len(present) > 0 {
		least, greatest = extremes(present)
		if c.least > c.greatest {
			c.least, c.greatest = least, greatest
		}
		c.least, c.greatest = min(c.least, least), max(c.greatest, greatest)
		if !c.Type.HasDictionary() {
			c.keys.Add(present)
		}
		if c.Type == column.Float {
			c.scaled.add(present)
		}
	}
	var b block
	c.bytes, b = appendBlock(c.bytes[:0], keys, v.Missing, least, greatest)
	c.blocks = append(c.blocks, b)
}
