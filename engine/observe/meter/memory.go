package meter

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
)

// Memory is a Sink that keeps numbers in memory. It is safe for concurrent use. Cores
// that count the same thing use different memory most of the time.
type Memory struct {
	shards int // a power of two

	mu     sync.RWMutex
	series map[string]*stored // by name and label values
	state  func() State
}

// stored is a counter or a histogram: of each shard a row of words, of which a histogram
// has the sum of its values and a count a bucket.
type stored struct {
	desc   *Desc
	values []string
	rows   []atomic.Uint64
	width  int // of a row, a multiple of a line of 64 bytes
}

const (
	lineWords  = 8
	mostShards = 16
)

// NewMemory returns a Sink without any series.
func NewMemory() *Memory {
	return &Memory{
		shards: 1 << bits.Len(uint(min(runtime.GOMAXPROCS(0), mostShards)-1)),
		series: make(map[string]*stored),
	}
}

// Register says where snapshots get the state of an engine from; nil is nowhere. The
// function may be called by several goroutines at the same time.
func (m *Memory) Register(state func() State) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state = state
}

// Counter implements Sink.
func (m *Memory) Counter(d *Desc, values ...string) Counter {
	return (*memoryCounter)(m.get(d, values))
}

// Histogram implements Sink.
func (m *Memory) Histogram(d *Desc, values ...string) Histogram {
	return (*memoryHistogram)(m.get(d, values))
}

func (m *Memory) get(d *Desc, values []string) *stored {
	name := d.Name + "\x00" + strings.Join(values, "\x00")
	m.mu.RLock()
	s := m.series[name]
	m.mu.RUnlock()
	if s != nil {
		return s
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s = m.series[name]; s == nil {
		words := 1
		if d.Kind == KindHistogram {
			words = 2 + len(d.Bounds)
		}
		width := (words + lineWords - 1) / lineWords * lineWords
		s = &stored{desc: d, values: slices.Clone(values), rows: make([]atomic.Uint64, m.shards*width), width: width}
		m.series[name] = s
	}
	return s
}

// row is one of them, any.
func (s *stored) row() []atomic.Uint64 {
	shards := len(s.rows) / s.width
	at := int(rand.Uint32()) & (shards - 1) * s.width
	return s.rows[at : at+s.width]
}

type memoryCounter stored

func (c *memoryCounter) Add(n float64) { (*stored)(c).row()[0].Add(uint64(n)) }

type memoryHistogram stored

func (h *memoryHistogram) Observe(v float64) {
	row := (*stored)(h).row()
	row[1+sort.SearchFloat64s(h.desc.Bounds, v)].Add(1)
	for sum := &row[0]; ; {
		old := sum.Load()
		if sum.CompareAndSwap(old, math.Float64bits(math.Float64frombits(old)+v)) {
			return
		}
	}
}

// Series is a metric with one value of each label.
type Series struct {
	Desc   *Desc
	Labels []string // values
	Value  float64  // of a counter or a gauge; of a histogram the sum of its values
	// Buckets of a histogram: how many values were above Desc.Bounds[i-1] and at most
	// Desc.Bounds[i]. The last one is of those above all bounds.
	Buckets []uint64
}

// Count is the number of values of a histogram.
func (s *Series) Count() (n uint64) {
	for _, b := range s.Buckets {
		n += b
	}
	return n
}

// Snapshot is all series at about one moment, in the order of names and label values.
type Snapshot []Series

// Snapshot returns what was counted, and the state of the engine that is registered.
func (m *Memory) Snapshot() Snapshot {
	m.mu.RLock()
	out := make(Snapshot, 0, len(m.series))
	for _, s := range m.series {
		out = append(out, s.read())
	}
	ask := m.state
	m.mu.RUnlock()
	if ask != nil {
		state := ask() // without the lock: it takes others
		state.Each(func(d *Desc, value float64, labels ...string) {
			out = append(out, Series{Desc: d, Labels: slices.Clone(labels), Value: value})
		})
	}
	slices.SortFunc(out, func(x, y Series) int {
		if c := strings.Compare(x.Desc.Name, y.Desc.Name); c != 0 {
			return c
		}
		return slices.Compare(x.Labels, y.Labels)
	})
	return out
}

func (s *stored) read() Series {
	out := Series{Desc: s.desc, Labels: s.values}
	if s.desc.Kind == KindHistogram {
		out.Buckets = make([]uint64, 1+len(s.desc.Bounds))
	}
	for row := range slices.Chunk(s.rows, s.width) {
		if out.Buckets == nil {
			out.Value += float64(row[0].Load())
			continue
		}
		out.Value += math.Float64frombits(row[0].Load())
		for i := range out.Buckets {
			out.Buckets[i] += row[1+i].Load()
		}
	}
	return out
}

// Find returns the series of that name and those label values; its Desc is nil where
// there is none.
func (s Snapshot) Find(name string, labels ...string) Series {
	for _, x := range s {
		if x.Desc.Name == name && slices.Equal(x.Labels, labels) {
			return x
		}
	}
	return Series{}
}
