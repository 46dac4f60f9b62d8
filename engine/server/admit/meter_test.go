package admit

import (
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// arrival is a request of a simulation.
type arrival struct {
	at, due time.Duration
	queries int
}

// machine is a server in virtual time, which answers requests in the order of their arrival.
type machine struct {
	*Gate
	now     time.Duration
	rate    float64 // queries per second
	waiting []running
	free    time.Duration // when all requests have left
	queries int           // number of requests that have left in time
}

type running struct {
	Slot
	end, late time.Duration
}

func newMachine(rate float64) *machine {
	m := &machine{Gate: New(Limits{Running: 1 << 30}), rate: rate}
	m.Gate.now = func() time.Time { return time.Unix(1000, 0).Add(m.now) }
	return m
}

func (m *machine) time(queries int) time.Duration {
	return time.Duration(float64(queries) / m.rate * float64(time.Second))
}

// until lets all requests leave that end before a time.
func (m *machine) until(at time.Duration) {
	for len(m.waiting) > 0 && m.waiting[0].end <= at {
		first := m.waiting[0]
		m.now, m.waiting = first.end, m.waiting[1:]
		m.Leave(first.Slot, true)
		if first.end <= first.late {
			m.queries += first.Slot.queries
		}
	}
	m.now = at
}

// arrive returns the refusal of a request, and the time until the requests before it have left.
func (m *machine) arrive(a arrival) (*Refusal, time.Duration) {
	m.until(a.at)
	ahead := max(m.free-a.at, 0)
	slot, refused := m.Enter("a", a.queries, a.due)
	if refused == nil {
		m.free = a.at + ahead + m.time(a.queries)
		m.waiting = append(m.waiting, running{slot, m.free, a.at + a.due})
	}
	return refused, ahead
}

// arrivals are requests at random times, with a number of queries per second.
func arrivals(seed uint64, rate float64, length time.Duration, queries func(r *rand.Rand) int, due time.Duration) (all []arrival) {
	r := rand.New(rand.NewPCG(seed, 0))
	for at := 0.0; at < length.Seconds(); {
		a := arrival{time.Duration(at * float64(time.Second)), due, queries(r)}
		all = append(all, a)
		at += r.ExpFloat64() * float64(a.queries) / rate
	}
	return all
}

// TestGoodput: a server with twice the load that it can bear answers in time nearly as many queries
// as without overload. Without the limit it answers few, because most of its work comes too late.
func TestGoodput(t *testing.T) {
	const rate, length = 10_000, 30 * time.Second
	for name, size := range map[string]func(*rand.Rand) int{
		"single": func(*rand.Rand) int { return 1 },
		"equal":  func(*rand.Rand) int { return 100 },
		"mixed":  func(r *rand.Rand) int { return []int{1, 10, 1000}[r.IntN(3)] },
	} {
		for _, due := range []time.Duration{500 * time.Millisecond, 2 * time.Second} {
			m := newMachine(rate)
			for _, a := range arrivals(1, 2*rate, length, size, due) {
				m.arrive(a)
			}
			if least := int(0.9 * rate * length.Seconds()); m.queries < least {
				t.Errorf("%s, due after %v: %d queries are answered in time, want %d", name, due, m.queries, least)
			}
		}
	}
}

// TestWork checks on loads of every kind that no request is refused while there is room, and that
// the queue stays bounded.
func TestWork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.SampledFrom([]float64{10, 1000, 1e6}).Draw(t, "rate")
		largest := rapid.SampledFrom([]int{1, 10, 1000}).Draw(t, "largest")
		load := rapid.Float64Range(0.1, 5).Draw(t, "load")
		size := func(r *rand.Rand) int { return 1 + r.IntN(largest) }
		m := newMachine(rate)
		due := m.time(largest * rapid.IntRange(8, 1000).Draw(t, "largest requests until due"))
		length := min(60*time.Second, m.time(largest*2000))
		seed := rapid.Uint64().Draw(t, "seed")
		// The gate knows the rate only from the requests that have left.
		bound := due + m.time(10*leastRequests*largest) + time.Duration(load*float64(memory))
		for _, a := range arrivals(seed, load*rate, length, size, due) {
			r, ahead := m.arrive(a)
			if r != nil && ahead < due/4 {
				t.Fatalf("at %v: refused behind %v of work, due after %v: %+v", a.at, ahead, due, r)
			}
			if r != nil && (r.Limit != "work" || r.After <= 0 || r.After > latest) {
				t.Fatalf("%+v", r)
			}
			if ahead > bound {
				t.Fatalf("at %v: %v of work in the queue, at most %v", a.at, ahead, bound)
			}
		}
	})
}

// TestOvertake: the queue of one caller does not keep out another one, whose few queries overtake it.
func TestOvertake(t *testing.T) {
	m := newMachine(1000)
	for _, a := range arrivals(1, 5000, 10*time.Second, func(*rand.Rand) int { return 10 }, 2*time.Second) {
		m.arrive(a)
	}
	const short = 100 * time.Millisecond
	if _, r := m.Enter("a", 1, short); r == nil || r.Max < 40 || r.Max > 60 { // 1000 queries in a second
		t.Errorf("the caller with a queue: %+v", r)
	}
	if _, r := m.Enter("b", 1, short); r != nil {
		t.Errorf("a caller without a queue: %+v", r)
	}
}

// TestPause: after a time in which the server answers nothing, it soon takes its full load again.
func TestPause(t *testing.T) {
	const rate, due = 1000, time.Second
	m := newMachine(rate)
	run := func(from time.Duration) (refused int) {
		for _, a := range arrivals(1, 0.8*rate, 10*time.Second, func(*rand.Rand) int { return 1 }, due) {
			a.at += from
			if r, _ := m.arrive(a); r != nil {
				refused++
			}
		}
		return refused
	}
	if n := run(0); n > 0 {
		t.Fatalf("%d requests are refused below the capacity", n)
	}
	m.until(20 * time.Second)
	m.free = 30 * time.Second
	if r, _ := m.arrive(arrival{20 * time.Second, due, 1}); r != nil { // takes 10 seconds
		t.Fatal(r)
	}
	m.until(31 * time.Second)
	if n := run(31 * time.Second); n > 100 {
		t.Errorf("%d of 8000 requests are refused after the pause", n)
	}
}
