package tablebuild

import (
	"slices"

	"heddle/engine/column"
)

type sample struct {
	Keys, Rows []uint64
	All        bool
}

type collector struct{ rows map[uint64]uint64 }

func (c *collector) Add(keys []uint64) {
	if c.rows == nil {
		c.rows = map[uint64]uint64{}
	}
	for _, k := range keys {
		c.rows[k]++
	}
}

func (c *collector) Sample() sample {
	s := sample{All: true}
	for k := range c.rows {
		s.Keys = append(s.Keys, k)
	}
	slices.Sort(s.Keys)
	for _, k := range s.Keys {
		s.Rows = append(s.Rows, c.rows[k])
	}
	return s
}

func chooseBins(t column.Type, kind column.Binning, bins int, s sample) (column.Binning, []uint64, error) {
	var upper []uint64
	total, seen := uint64(0), uint64(0)
	for _, n := range s.Rows {
		total += n
	}
	for i, k := range s.Keys {
		seen += s.Rows[i]
		if seen*uint64(bins) >= total*uint64(len(upper)+1) || i == len(s.Keys)-1 {
			upper = append(upper, k)
		}
	}
	return column.Quantile, upper, nil
}
