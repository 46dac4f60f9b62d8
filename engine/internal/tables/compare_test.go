package tables

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"heddle/codec"
	"heddle/codec/wah"
	"heddle/engine/internal/limit"
	"heddle/engine/internal/schedule"
	"heddle/engine/table/column"
	"heddle/engine/table/predicate"
	"heddle/engine/table/predicate/predicatetest"
)

// TestCompareEnds: a comparison ends with its context and its deadline. Rows that are not
// asked for stay out.
func TestCompareEnds(t *testing.T) {
	tab, columns := predicatetest.Table(t, 32, predicatetest.Flights()...)
	d, err := New(&tab.Table, columns)
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	s := &predicate.Set{Op: predicate.Compared, A: 4, B: 4, By: column.Eq}
	rows := make([]uint64, (tab.Rows+63)/64)
	rows[3], rows[70] = 5, 1<<63
	want := slices.Clone(rows)
	for _, x := range []struct {
		until limit.Until
		want  error
	}{
		{limit.Until{Context: ended}, context.Canceled},
		{limit.Until{Context: t.Context(), Deadline: time.Now().Add(-time.Second)}, schedule.ErrDeadline},
		{limit.Until{Context: t.Context()}, nil},
	} {
		if err := d.compareColumns(&x.until, s, rows); !errors.Is(err, x.want) || (err != nil) != (x.want != nil) {
			t.Errorf("error %v, want %v", err, x.want)
		}
	}
	if !slices.Equal(rows, want) {
		t.Errorf("other rows than wanted")
	}
	s.By = column.Lt
	if err := d.compareColumns(&limit.Until{Context: t.Context()}, s, rows); err != nil || slices.Max(rows) != 0 {
		t.Errorf("rows %v, error %v, want none", rows, err)
	}
}

// TestCompareTiles compares the rows of several tiles, which goroutines share.
func TestCompareTiles(t *testing.T) {
	rows := 2*tile*codec.SegmentLen + 77
	oneBin := func(i, n int) int { return 0 }
	in := []predicatetest.Column{{Name: "a", Type: column.Int, Bin: oneBin}, {Name: "b", Type: column.Int, Bin: oneBin}}
	want := make([]uint64, wah.Bitset(uint64(rows)))
	all := slices.Repeat([]uint64{^uint64(0)}, len(want))
	all[len(all)-1] = 1<<(rows%64) - 1
	for i := range rows {
		a, b := int64(i*7%1000), int64(i*11%997)
		in[0].Values, in[1].Values = append(in[0].Values, a), append(in[1].Values, b)
		if a < b {
			want[i/64] |= 1 << (i % 64)
		}
	}
	tab, columns := predicatetest.Table(t, 32, in...)
	d, err := New(&tab.Table, columns)
	if err != nil {
		t.Fatal(err)
	}
	err = d.compareColumns(&limit.Until{Context: t.Context()}, &predicate.Set{Op: predicate.Compared, B: 1, By: column.Lt}, all)
	if err != nil || !slices.Equal(all, want) {
		t.Errorf("other rows than wanted, error %v", err)
	}
}
