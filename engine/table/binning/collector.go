package binning

import (
	"math/bits"
	"math/rand/v2"
	"slices"
)

// The most that a Collector keeps: about a megabyte.
const (
	exactKeys  = 1 << 14 // more than MaxBins
	sampleKeys = 1 << 16
)

// Columns of a table share the memory of so many Collectors, but each has 1/2^mostShared of it at least.
const (
	sharing    = 64
	mostShared = 5
)

// shared is the logarithm of the fraction of its memory that a Collector of one of so many columns has.
func shared(columns int) uint {
	return uint(min(max(bits.Len(uint(columns-1))-bits.Len(sharing-1), 0), mostShared))
}

// Memory is the greatest memory of a Collector of one of so many columns, in bytes.
func Memory(columns int) uint64 { return 1 << 20 >> shared(columns) }

// Collector takes the keys of a column's rows in order. It keeps all distinct keys
// while they are few, then a sample of rows: one random row of each 2^k consecutive
// rows. Its memory is bounded and grows with the input. The same keys in the same order
// give the same sample, however the calls divide them. The zero value is empty. It is
// for one goroutine.
type Collector struct {
	table []entry // hash table of different keys; at most half of it is in use
	shift uint    // 64 less the logarithm of its length
	used  int

	shared          uint     // it keeps 1/2^shared of exactKeys and sampleKeys
	full            bool     // there were too many keys for the table: from there on
	least, greatest uint64   // keys there were
	drawn           []uint64 // the sample
	level           uint     // it has one row of 2^level
	at              uint64   // rows behind of the 2^level under way
	draw            uint64   // random number: which of them it takes
	random          rand.PCG
}

// entry is a key and its rows; no rows is no entry.
type entry struct{ key, rows uint64 }

// Share bounds the memory of the collector by Memory of the number of columns. It is called before the first key.
func (c *Collector) Share(columns int) { c.shared = shared(columns) }

// Add takes the keys of the next rows that have a value.
func (c *Collector) Add(keys []uint64) {
	if !c.full {
		keys = keys[c.count(keys):]
	}
	if len(keys) > 0 {
		c.least, c.greatest = min(c.least, slices.Min(keys)), max(c.greatest, slices.Max(keys))
		c.sample(keys)
	}
}

// AddRows takes the key of the next rows that have a value.
func (c *Collector) AddRows(key, rows uint64) {
	if rows == 0 {
		return
	}
	if !c.full {
		if e := c.entry(key); e != nil {
			e.rows += rows
			return
		}
		c.overflow()
	}
	c.least, c.greatest = min(c.least, key), max(c.greatest, key)
	c.run(key, rows)
}

// run takes rows of a key that are not counted.
func (c *Collector) run(key, rows uint64) {
	var run [256]uint64
	n := min(rows, uint64(len(run)))
	for i := range run[:n] {
		run[i] = key
	}
	for ; rows > 0; rows -= n {
		n = min(rows, n)
		c.sample(run[:n])
	}
}

// count adds rows to the table while it has room for their keys, and returns their
// number. Then it starts to sample, first from the rows of the table, by ascending keys.
func (c *Collector) count(keys []uint64) int {
	for i := 0; i < len(keys); {
		e := c.entry(keys[i])
		if e == nil {
			c.overflow()
			return i
		}
		first := i
		for i++; i < len(keys) && keys[i] == keys[first]; i++ {
		}
		e.rows += uint64(i - first)
	}
	return len(keys)
}

// entry is the entry of a key, which it makes if there is none; nil where the table has no room.
func (c *Collector) entry(key uint64) *entry {
	if c.table == nil {
		c.grow()
	}
	e := &c.table[c.find(key)]
	if e.rows > 0 {
		return e
	}
	if c.used == exactKeys>>c.shared {
		return nil
	}
	if c.used++; c.used > len(c.table)/2 {
		c.grow()
		e = &c.table[c.find(key)]
	}
	e.key = key
	return e
}

func (c *Collector) overflow() {
	all := c.entries()
	c.table, c.full = nil, true
	c.least, c.greatest = all[0].key, all[len(all)-1].key
	for _, e := range all {
		c.run(e.key, e.rows)
	}
}

// find is the place of a key, or the free one where it belongs.
func (c *Collector) find(key uint64) int {
	i := int(key * 0x9e3779b97f4a7c15 >> c.shift)
	for c.table[i].rows > 0 && c.table[i].key != key {
		i = (i + 1) & (len(c.table) - 1)
	}
	return i
}

// grow doubles the table.
func (c *Collector) grow() {
	before := c.table
	c.table = make([]entry, max(2*len(before), 64))
	c.shift = uint(64 - bits.TrailingZeros(uint(len(c.table))))
	for _, e := range before {
		if e.rows > 0 {
			c.table[c.find(e.key)] = e
		}
	}
}

// entries returns the content of the table, by ascending keys.
func (c *Collector) entries() []entry {
	var all []entry
	for _, e := range c.table {
		if e.rows > 0 {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b entry) int {
		if a.key < b.key {
			return -1
		}
		return 1
	})
	return all
}

// sample takes rows that are not counted.
func (c *Collector) sample(keys []uint64) {
	for {
		block := uint64(1) << c.level
		if c.at <= c.draw && c.draw-c.at < uint64(len(keys)) {
			c.drawn = append(c.drawn, keys[c.draw-c.at])
		}
		if left := block - c.at; left > uint64(len(keys)) {
			c.at += uint64(len(keys))
			return
		} else {
			keys = keys[left:]
		}
		if most := sampleKeys >> c.shared; len(c.drawn) == most { // one of two neighbours is one of twice as many rows
			for i := range most / 2 {
				c.drawn[i] = c.drawn[2*i+int(c.random.Uint64()>>63)]
			}
			c.drawn, c.level = c.drawn[:most/2], c.level+1
		}
		c.at, c.draw = 0, c.random.Uint64()&(1<<c.level-1)
	}
}

// Sample returns the distribution of the keys so far, for Choose. The collector accepts
// more keys afterwards.
func (c *Collector) Sample() Sample {
	s := Sample{All: !c.full || c.level == 0}
	if !c.full {
		for _, e := range c.entries() {
			s.Keys, s.Rows = append(s.Keys, e.key), append(s.Rows, e.rows)
		}
		return s
	}
	drawn := slices.Clone(c.drawn)
	slices.Sort(drawn)
	if drawn[0] != c.least {
		s.Keys, s.Rows = append(s.Keys, c.least), append(s.Rows, 0)
	}
	for i, key := range drawn {
		if i == 0 || key != drawn[i-1] {
			s.Keys, s.Rows = append(s.Keys, key), append(s.Rows, 0)
		}
		s.Rows[len(s.Rows)-1]++
	}
	if drawn[len(drawn)-1] != c.greatest {
		s.Keys, s.Rows = append(s.Keys, c.greatest), append(s.Rows, 0)
	}
	return s
}
