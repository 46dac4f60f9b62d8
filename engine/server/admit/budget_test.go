package admit

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// TestBudget compares accounts with sums over all of them.
func TestBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Int64Range(1, 1000).Draw(t, "limit")
		b := NewBudget(limit)
		type entry struct {
			caller string
			bytes  int64
			a      *Account
		}
		var open []*entry
		sum := func(caller string) (n int64) {
			for _, e := range open {
				if caller == "" || e.caller == caller {
					n += e.bytes
				}
			}
			return n
		}
		t.Repeat(map[string]func(*rapid.T){
			"open": func(t *rapid.T) {
				caller := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "caller")
				open = append(open, &entry{caller: caller, a: b.Open(caller)})
			},
			"take": func(t *rapid.T) {
				if len(open) == 0 {
					t.Skip("no account")
				}
				e, n := rapid.SampledFrom(open).Draw(t, "account"), rapid.Int64Range(0, 1000).Draw(t, "bytes")
				fits := n == 0 || sum(e.caller)+n <= 3*(limit-sum("")-n)
				alone := e.bytes+n <= 3*(limit-e.bytes-n)
				if room := e.a.Room(); (n <= room) != fits && n > 0 {
					t.Fatalf("room for %d bytes, %d fit: %v", room, n, fits)
				}
				refused := e.a.Take(n)
				if (refused == nil) != fits || refused != nil && (refused.Limit != "memory" || refused.Max != int(limit) || (refused.After > 0) != alone) {
					t.Fatalf("%d bytes: %+v, fits %v, alone %v", n, refused, fits, alone)
				}
				if refused == nil {
					e.bytes += n
				}
			},
			"give": func(t *rapid.T) {
				if len(open) == 0 {
					t.Skip("no account")
				}
				e := rapid.SampledFrom(open).Draw(t, "account")
				n := rapid.Int64Range(0, e.bytes).Draw(t, "bytes")
				e.a.Give(n)
				e.bytes -= n
			},
			"close": func(t *rapid.T) {
				if len(open) == 0 {
					t.Skip("no account")
				}
				open[0].a.Close()
				open[0].a.Close()
				open = open[1:]
			},
			"": func(t *rapid.T) {
				if used, most := b.Use(); used != sum("") || most != limit || used > limit {
					t.Fatalf("%d of %d bytes, want %d", used, most, sum(""))
				}
				for _, e := range open {
					if e.a.Bytes() != e.bytes {
						t.Fatalf("%d bytes, want %d", e.a.Bytes(), e.bytes)
					}
				}
			},
		})
		for _, e := range open {
			e.a.Close()
		}
		if used, _ := b.Use(); used != 0 || len(b.callers) != 0 {
			t.Fatalf("%d bytes of %d callers stay", used, len(b.callers))
		}
	})
}

// TestCallerOfTwo: a caller holds what its open requests hold, whichever of them ends first.
func TestCallerOfTwo(t *testing.T) {
	b := NewBudget(100)
	first, second := b.Open("a"), b.Open("a")
	if first.Take(40) != nil || second.Take(20) != nil {
		t.Fatal("60 of 100 bytes are refused")
	}
	if first.Close(); b.Open("a").Room() != second.Room() || second.Room() != (3*80-20)/4 {
		t.Errorf("room for %d and %d bytes beside 20", b.Open("a").Room(), second.Room())
	}
	if second.Close(); len(b.callers) != 0 {
		t.Errorf("callers %v", b.callers)
	}
}

// TestShare: a caller that takes all it can get leaves room for another one.
func TestShare(t *testing.T) {
	b := NewBudget(1 << 20)
	for _, want := range []int64{768 << 10, 192 << 10, 48 << 10} { // three quarters of the rest
		a := b.Open(fmt.Sprint(want))
		defer a.Close()
		for a.Take(1024) == nil {
		}
		if got := a.Bytes(); got != want {
			t.Errorf("a caller gets %d bytes, want %d", got, want)
		}
	}
	var none *Account
	if none.Take(1<<40) != nil || none.Bytes() != 0 {
		t.Error("no account has a limit")
	}
	none.Give(1)
}
