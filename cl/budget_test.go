package cl

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/codec/wah"
	"heddle/engine/plan"
)

// smallTable makes a table of two vectors, a selection of their OR, and its rows.
func smallTable(rows uint32) (*plan.Table, *plan.SelectBatch, []uint64) {
	t := &plan.Table{Rows: rows}
	want := make([]uint64, wah.Bitset(uint64(rows)))
	for v := range uint64(2) {
		var b wah.Builder[uint32]
		for r := v; r < uint64(rows); r += 3 + 4*v {
			b.Add(r)
			want[r/64] |= 1 << (r % 64)
		}
		t.AppendVector32(b.AppendTo(nil, uint64(rows)))
	}
	sel := &plan.SelectBatch{}
	sel.Any(0, 1)
	sel.End()
	return t, sel, want
}

// tenant is a store on a shared backend.
type tenant struct {
	memory func() uint64
	close  func() error
	ask    func() error // an error other than plan.ErrOutOfMemory fails the test
}

// loadTenants loads two indexes, two tables and a cache on one backend. It returns the ones
// that fit and the error of the first one that does not.
func loadTenants(t *testing.T, b *Backend, l *mixedLoad) (loaded []tenant, err error) {
	t.Helper()
	ask := func(s plan.Store) func() error {
		return func() error {
			return errors.Join(l.ask(devicetest.Limited(t), t, s, 0), l.ask(devicetest.Limited(t), t, s, 1), l.ask(devicetest.Limited(t), t, s, 2))
		}
	}
	tab, sel, want := smallTable(500_000)
	for i := range 5 {
		var x tenant
		switch i {
		case 0, 2:
			s, err := b.Load(t.Context(), l.src)
			if err != nil {
				return loaded, err
			}
			x = tenant{s.Memory, s.Close, ask(s)}
		case 1, 3:
			s, err := b.LoadTable(t.Context(), tab)
			if err != nil {
				return loaded, err
			}
			x = tenant{s.Memory, s.Close, func() error {
				var out plan.Rows
				err := s.Select(t.Context(), sel, &out)
				if err == nil && !slices.Equal(out.Bits, want) {
					return errors.New("wrong rows")
				}
				return err
			}}
		case 4:
			s, err := b.LoadCached(t.Context(), l.src, 0)
			if err != nil {
				return loaded, err
			}
			x = tenant{s.Memory, s.Close, ask(s)}
		}
		loaded = append(loaded, x)
		if err := x.ask(); err != nil {
			return loaded, err
		}
	}
	return loaded, nil
}

// TestSharedBudget loads two indexes, two tables and a cache on one backend. With enough memory
// all of them answer, with less memory a load or a batch is refused. The sum of all stores never
// exceeds the limit, and the error names the sizes.
func TestSharedBudget(t *testing.T) {
	d := devicetest.Find(t, everything)
	l := newLoad(t, 20, 20)
	row := devicetest.FewTiles(d)
	row.Slots = 2
	fit, refused := 0, 0
	for limit := uint64(1 << 30); limit >= 4<<20; limit /= 4 {
		rt, err := device.Open(t.Context(), d, device.Options{Tuning: &row, SkipSelfTest: true, MemoryLimit: limit})
		if err != nil {
			t.Fatal(err)
		}
		b := &Backend{rt}
		loaded, err := loadTenants(t, b, l)
		switch {
		case err == nil:
			fit++
		case !errors.Is(err, plan.ErrOutOfMemory):
			t.Errorf("limit %d: %v", limit, err)
		default:
			refused++
			if !strings.Contains(err.Error(), "bytes") || strings.Contains(err.Error(), "are in use") && !strings.Contains(err.Error(), fmt.Sprintf("of %d are in use", limit)) {
				t.Errorf("limit %d: the error names no sizes: %v", limit, err)
			}
		}
		sum := uint64(0)
		for _, x := range loaded {
			sum += x.memory()
		}
		if used := rt.Memory.InUse(); used > limit || used != sum {
			t.Errorf("limit %d: %d bytes are in use, the stores have %d", limit, used, sum)
		}
		for i, x := range loaded {
			if err := x.ask(); err != nil && !errors.Is(err, plan.ErrOutOfMemory) {
				t.Errorf("limit %d: store %d of %d: %v", limit, i, len(loaded), err)
			}
			if err := x.close(); err != nil {
				t.Error(err)
			}
		}
		if used := rt.Memory.InUse(); used != 0 {
			t.Errorf("limit %d: %d bytes are still reserved", limit, used)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	if fit == 0 || refused == 0 {
		t.Errorf("%d limits fit all stores, %d refused one", fit, refused)
	}
}
