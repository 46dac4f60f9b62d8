package measure

import "time"

// LeastTime is the shortest timed run. Shorter work is repeated.
const LeastTime = 20 * time.Millisecond

// Turn is one timed run of one method.
type Turn struct {
	Queries int
	Run     func() error
}

// InTurns runs every turn once, then every turn again, runs times, so that a slower
// machine slows all of them. It returns queries per second.
func InTurns(turns []Turn, runs int) ([]Summary, error) {
	rates := make([][]float64, len(turns))
	for range runs {
		for i, t := range turns {
			began := time.Now()
			if err := t.Run(); err != nil {
				return nil, err
			}
			rates[i] = append(rates[i], float64(t.Queries)/time.Since(began).Seconds())
		}
	}
	out := make([]Summary, len(turns))
	for i := range rates {
		out[i] = Summarize(rates[i])
	}
	return out, nil
}

// Milliseconds converts a duration.
func Milliseconds(d time.Duration) float64 { return d.Seconds() * 1e3 }

// Clock returns the frequency of a core in GHz, from the rate of a chain of
// multiplications. Each takes three cycles on the processors of the last ten years.
func Clock() float64 {
	const rounds = 200_000
	best := 0.0
	for range 5 {
		began := time.Now()
		chained = chain(chained|1, chained|3, rounds)
		best = max(best, 3*chainLinks*rounds/time.Since(began).Seconds()/1e9)
	}
	return best
}

// chained keeps the compiler from dropping the chain.
var chained uint64

const chainLinks = 8

// chain multiplies x by a factor, chainLinks times per round. Each product needs
// the one before.
func chain(x, factor uint64, rounds int) uint64 {
	for range rounds {
		x *= factor
		x *= factor
		x *= factor
		x *= factor
		x *= factor
		x *= factor
		x *= factor
		x *= factor
	}
	return x
}

// mostTime is the longest timed repetition, except that two runs always take place.
const mostTime = time.Second

// manyCalls is the number of calls from which on Repeat compares the medians of parts.
const manyCalls = 3 * ResponseParts

// Repeat calls f once to warm up. Then it times at least runs calls and at least
// a duration of calls, but at most about a second. It returns microseconds per call. Of many calls
// it returns the summary of Parts, because some of them are interrupted.
func Repeat(runs int, least time.Duration, f func() error) (Summary, error) {
	var times []float64
	for began := time.Now(); ; {
		start := time.Now()
		if err := f(); err != nil {
			return Summary{}, err
		}
		times = append(times, time.Since(start).Seconds()*1e6)
		if spent, n := time.Since(began), len(times)-1; n >= runs && spent > least || n >= 2 && spent > mostTime {
			if n >= manyCalls {
				return Parts(times[1:], ResponseParts), nil
			}
			return Summarize(times[1:]), nil
		}
	}
}
