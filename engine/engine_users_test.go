package engine

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"heddle/engine/plan"
)

// A View is never of a generation that exchange has given back, however many come and go.
func TestEngineViewsOutliveExchanges(t *testing.T) {
	var e Engine
	const generations = 300
	var closed [generations]atomic.Bool
	next := func(i int) *generation {
		g := &generation{}
		g.key = uint64(i)
		return g
	}
	e.now.Store(next(0))
	var group sync.WaitGroup
	var views atomic.Int64
	for range 8 {
		group.Go(func() {
			for {
				v, err := e.View()
				if err == plan.ErrClosed {
					return
				}
				w, err := e.View() // of the same goroutine, maybe of another generation
				if closed[v.g.key].Load() || err == nil && closed[w.g.key].Load() {
					t.Error("a view of a generation that is closed")
				}
				if err == nil {
					w.Close()
				}
				v.Close()
				views.Add(1)
				runtime.Gosched()
			}
		})
	}
	for i := range generations {
		for until := views.Load() + 20; i%3 == 0 && views.Load() < until; { // else at once after the one before
			runtime.Gosched()
		}
		var g *generation
		if i < generations-1 {
			g = next(i + 1)
		}
		old := e.exchange(g)
		closed[i].Store(true)
		if old.key != uint64(i) {
			t.Fatalf("generation %d came back for %d", old.key, i)
		}
	}
	group.Wait()
	if _, err := e.View(); err != plan.ErrClosed {
		t.Errorf("a view of a closed engine: %v", err)
	}
}

func BenchmarkView(b *testing.B) {
	var e Engine
	e.now.Store(&generation{})
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			v, err := e.View()
			if err != nil {
				b.Error(err)
				return
			}
			v.Close()
		}
	})
}
