package resultcache

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"
)

func keyOf(n uint64) Key { return binary.BigEndian.AppendUint64(nil, n) }

// size is the memory of a value of so many bytes under a key of keyOf.
func size(bytes uint64) uint64 { return bytes + 8 + Overhead }

// check compares maps, queues and counters.
func check[V any](t *testing.T, c *Cache[V]) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	n, bytes := 0, uint64(0)
	for _, q := range []*queue[V]{&c.small, &c.main} {
		was := n
		for e := q.first; e != nil; e = e.next {
			s := &c.shards[e.hash%shards]
			s.mu.RLock()
			if s.entries[e.key] != e {
				t.Errorf("key %x is in a queue, and not in its map", e.key)
			}
			s.mu.RUnlock()
			n++
			bytes += e.bytes
		}
		if n-was != q.n {
			t.Errorf("a queue has %d entries and counts %d", n-was, q.n)
		}
	}
	if bytes != c.small.bytes+c.main.bytes {
		t.Errorf("entries have %d bytes, %d are counted", bytes, c.small.bytes+c.main.bytes)
	}
	if bytes > c.capacity {
		t.Errorf("%d bytes of at most %d", bytes, c.capacity)
	}
	mapped := 0
	for i := range c.shards {
		c.shards[i].mu.RLock()
		mapped += len(c.shards[i].entries)
		c.shards[i].mu.RUnlock()
	}
	if mapped != n {
		t.Errorf("%d entries in maps, %d in queues", mapped, n)
	}
}

func TestGetPut(t *testing.T) {
	c := New[string](1 << 20)
	k := keyOf(1)
	if _, ok := c.Get(k); ok {
		t.Fatal("an empty cache has an answer")
	}
	if !c.Put(k, "one", 3) {
		t.Fatal("not kept")
	}
	k[7] = 2 // the cache has its own copy
	if _, ok := c.Get(k); ok {
		t.Fatal("an answer under a key that was never put")
	}
	if v, ok := c.Get(keyOf(1)); !ok || v != "one" {
		t.Fatalf("got %q %v", v, ok)
	}
	if !c.Put(keyOf(1), "another", 7) {
		t.Fatal("a second put of a key says that nothing is kept")
	}
	if v, _ := c.Get(keyOf(1)); v != "one" {
		t.Fatalf("the second value has replaced the first: %q", v)
	}
	s := c.Stats()
	want := Stats{Capacity: 1 << 20, Bytes: s.Bytes, Entries: 1, Hits: 2, Misses: 2}
	if s != want || s.Bytes != size(3)+c.gone.bytes() {
		t.Fatalf("%+v, want %+v", s, want)
	}
	c.Clear()
	if _, ok := c.Get(keyOf(1)); ok || c.Stats().Entries != 0 {
		t.Fatalf("an answer after Clear: %+v", c.Stats())
	}
	check(t, c)
}

// A value may take a sixteenth, and no byte more.
func TestLargeValues(t *testing.T) {
	c := New[int](1 << 20)
	most := c.capacity/Share - size(0)
	if c.Put(keyOf(0), 0, most+1) || c.Put(keyOf(0), 0, ^uint64(0)) {
		t.Error("a value of more than a sixteenth is kept")
	}
	if !c.Takes(keyOf(0), most) || c.Takes(keyOf(0), most+1) || c.Takes(keyOf(0), ^uint64(0)) {
		t.Error("Takes is wrong about a sixteenth")
	}
	for i := range uint64(3 * Share) {
		if !c.Put(keyOf(i), 0, most) {
			t.Fatal("a value of a sixteenth is not kept")
		}
		check(t, c)
	}
	if s := c.Stats(); s.Refused != 2 || s.Entries != Share || s.Evicted != 2*Share {
		t.Errorf("%+v", s)
	}
}

func TestNoRoom(t *testing.T) {
	for _, bytes := range []uint64{0, 1, 100, 1000, Share * Overhead} {
		if c := New[int](bytes); c.Put(keyOf(1), 1, 0) || c.Stats().Entries != 0 || c.Stats().Bytes > bytes {
			t.Errorf("%d bytes: %+v", bytes, c.Stats())
		}
	}
	var none *Cache[int]
	none.Clear()
	if _, ok := none.Get(keyOf(1)); ok || none.Put(keyOf(1), 1, 1) || none.Takes(keyOf(1), 0) || none.Stats() != (Stats{}) {
		t.Error("a nil cache keeps something")
	}
}

// Answers that are asked for again survive ten times the cache's size of others.
func TestScan(t *testing.T) {
	const bytes, value = 1 << 20, 1000
	c := New[int](bytes)
	hot := uint64(bytes / size(value) / 4)
	for round := range 3 {
		for i := range hot {
			if _, ok := c.Get(keyOf(i)); !ok && round > 0 {
				t.Fatalf("answer %d of %d is gone before there is too little room", i, hot)
			}
			c.Put(keyOf(i), 0, value)
		}
	}
	for i := range 10 * bytes / size(value) {
		c.Put(keyOf(1<<32+i), 0, value)
		if i%10 == 0 {
			c.Get(keyOf(i / 10 % hot))
		}
	}
	kept := 0
	for i := range hot {
		if _, ok := c.Get(keyOf(i)); ok {
			kept++
		}
	}
	if kept != int(hot) {
		t.Errorf("%d of %d answers have survived", kept, hot)
	}
	check(t, c)
}

// Queries that come back soon after they were driven out go to the main queue, but for
// some whose fingerprints are overwritten.
func TestGhosts(t *testing.T) {
	c := New[int](1 << 20)
	const value = 1000
	n := c.capacity / size(value)
	for i := range n { // fill main
		c.Put(keyOf(i), 0, value)
		c.Get(keyOf(i))
		c.Get(keyOf(i))
	}
	for i := range n / 2 {
		c.Put(keyOf(1<<40+i), 0, value)
	}
	back, asked := 0, n/4
	for i := range asked {
		k := keyOf(1<<40 + i)
		if _, ok := c.Get(k); ok {
			t.Fatalf("answer %d, that nobody asked for, is still there", i)
		}
		c.Put(k, 0, value)
		if e := c.main.last; e.key == string(k) {
			back++
			if c.gone.take(e.hash, 1<<30) {
				t.Fatalf("answer %d is remembered as gone while it is there", i)
			}
		}
	}
	if back < int(asked)/2 {
		t.Errorf("of %d that came back %d went to the main queue", asked, back)
	}
	check(t, c)
}

// lru is the plainest cache, of so many entries.
type lru struct {
	last map[uint64]int
	n    int
}

func (l *lru) get(k uint64, now int) bool {
	_, ok := l.last[k]
	l.last[k] = now
	if len(l.last) > l.n {
		oldest := k
		for x, at := range l.last {
			if at < l.last[oldest] {
				oldest = x
			}
		}
		delete(l.last, oldest)
	}
	return ok
}

// Logs of queries are Zipf: the cache should come close to one that knows the queries
// that come most often, and beat one that evicts the least recently used answer.
func TestHitRate(t *testing.T) {
	const entries, universe, queries, value = 60, 6000, 20000, 4000
	c := New[uint64](entries * size(value) * 128 / 127)
	l := lru{make(map[uint64]int), entries}
	z := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.01, 1, universe-1)
	hits, old, best := 0, 0, 0
	for i := range queries {
		k := z.Uint64()
		v, ok := c.Get(keyOf(k))
		if ok && v != k {
			t.Fatalf("query %d got the answer of %d", k, v)
		}
		if !ok {
			c.Put(keyOf(k), k, value)
		}
		if i < queries/2 {
			l.get(k, i)
			continue
		}
		if ok {
			hits++
		}
		if l.get(k, i) {
			old++
		}
		if k < entries { // the most frequent
			best++
		}
	}
	check(t, c)
	rate := func(n int) float64 { return float64(n) / (queries / 2) }
	t.Logf("hit rate %.3f, of LRU %.3f, of the %d most frequent %.3f", rate(hits), rate(old), entries, rate(best))
	if rate(hits) < 0.93*rate(best) || hits < old {
		t.Errorf("hit rate %.3f, of LRU %.3f, of the %d most frequent %.3f", rate(hits), rate(old), entries, rate(best))
	}
}

// The bound holds at any moment, with several callers of Put.
func TestConcurrent(t *testing.T) {
	before := runtime.NumGoroutine()
	const bytes = 1 << 18
	c := New[uint64](bytes)
	var callers, watch sync.WaitGroup
	stop := make(chan struct{})
	watch.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if s := c.Stats(); s.Bytes > s.Capacity || s.Capacity > bytes {
					t.Errorf("%d bytes of at most %d", s.Bytes, bytes)
					return
				}
				runtime.Gosched()
			}
		}
	})
	const each = 5000
	for g := range uint64(8) {
		callers.Go(func() {
			r := rand.New(rand.NewPCG(3, g))
			z := rand.NewZipf(r, 1.1, 1, 1<<12)
			for i := range each {
				k := z.Uint64()
				if v, ok := c.Get(keyOf(k)); ok && v != k {
					t.Errorf("query %d got the answer of %d", k, v)
					return
				} else if !ok {
					c.Put(keyOf(k), k, k*k%(bytes/Share))
				}
				if g == 0 && i%1500 == 1499 {
					c.Clear()
				}
			}
		})
	}
	callers.Wait()
	close(stop)
	watch.Wait()
	check(t, c)
	if s := c.Stats(); s.Hits+s.Misses != 8*each || s.Hits == 0 || s.Evicted == 0 {
		t.Errorf("%+v", s)
	}
	for runtime.NumGoroutine() > before { // up to the time-out of the test
		time.Sleep(time.Millisecond)
	}
}

func TestGetAllocations(t *testing.T) {
	c := New[int](1 << 20)
	k := keyOf(1)
	c.Put(k, 1, 1)
	if n := testing.AllocsPerRun(100, func() { c.Get(k) }); n != 0 {
		t.Errorf("Get allocates %v times", n)
	}
}

func BenchmarkGet(b *testing.B) {
	c := New[int](1 << 24)
	for i := range uint64(1 << 10) {
		c.Put(keyOf(i), 0, 1000)
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		k := make(Key, 8)
		for i := uint64(0); pb.Next(); i++ {
			binary.BigEndian.PutUint64(k, i%(1<<10))
			if _, ok := c.Get(k); !ok {
				b.Fatal("gone")
			}
		}
	})
}

func BenchmarkPut(b *testing.B) {
	c := New[int](1 << 24)
	b.ReportAllocs()
	k := make(Key, 8)
	for i := range uint64(b.N) {
		binary.BigEndian.PutUint64(k, i)
		c.Put(k, 0, 1000)
	}
}

// TestPromotion: an answer goes on to the main queue after two requests, not after one.
func TestPromotion(t *testing.T) {
	c := New[int](1 << 16)
	for n := range uint64(3) {
		c.Put(keyOf(n), 0, 100)
		for range n {
			c.Get(keyOf(n))
		}
	}
	for range 2 {
		c.mu.Lock()
		c.evict(false)
		c.mu.Unlock()
	}
	check(t, c)
	for n := range uint64(3) {
		if _, ok := c.Get(keyOf(n)); ok != (n == 2) {
			t.Errorf("after %d requests: kept %t", n, ok)
		}
	}
}
