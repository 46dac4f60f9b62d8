package capacity

import (
	"math"
	"sort"
)

// Call describes the calls of one shard: the work, and the machines that do it.
type Call struct {
	Service float64 // median time of a core for a call, in seconds
	Sigma   float64 // spread: standard deviation of the logarithm of the time
	Cores   int     // number of cores of a machine, which has one shard
	Load    float64 // share of the time that cores are busy, 0 to 1, without second requests
	Copies  int     // machines with the same shard; a call takes the better of two
	Slow    float64 // share of calls that are delayed on their way
	Delay   float64 // delay of a delayed call, in seconds
	Network float64 // time of a round trip, in seconds
}

// MaxSecond is the greatest share of calls with a second request.
const MaxSecond = 0.05

// Mean is the mean time of a core for a call, in seconds.
func (c *Call) Mean() float64 { return c.Service * math.Exp(c.Sigma*c.Sigma/2) }

// Latency is the distribution of the time of a call.
type Latency struct {
	step float64   // seconds
	done []float64 // share of calls that end within a number of steps
}

// gridSteps is the resolution of a distribution.
const gridSteps = 1 << 14

// Latency computes the distribution of the time of a call without a second request.
//
// A call waits for a core if all cores are busy: by the formula of Erlang on the machine alone, and
// on both machines where there are two. The wait is exponential (Allen and Cunneen). Load adds up
// over all machines, so it must be below 1.
func (c *Call) Latency() *Latency {
	mean := c.Mean()
	variation := math.Exp(c.Sigma*c.Sigma) - 1 // squared coefficient of variation of the service time
	wait := erlang(c.Cores, c.Load)
	if c.Copies > 1 {
		wait *= wait
	}
	rate := float64(c.Cores) * (1 - c.Load) / mean * 2 / (1 + variation)
	worst := c.Service*math.Exp(6*c.Sigma) + 20/rate + c.Delay + c.Network
	l := &Latency{step: worst / gridSteps, done: make([]float64, gridSteps+1)}
	waited, keep, before := 0.0, math.Exp(-rate*l.step), 0.0
	own := make([]float64, len(l.done)) // without delay
	for i := range own {
		service := c.served(float64(i)*l.step - c.Network)
		waited = waited*keep + (before+service)/2*(1-keep)
		before = service
		own[i] = (1-wait)*service + wait*waited
	}
	shift := int(c.Delay / l.step)
	for i := range own {
		l.done[i] = (1 - c.Slow) * own[i]
		if i >= shift {
			l.done[i] += c.Slow * own[i-shift]
		}
	}
	return l
}

// served is the share of calls with at most t seconds of a core.
func (c *Call) served(t float64) float64 {
	if t <= 0 {
		return 0
	}
	if c.Sigma == 0 {
		if t >= c.Service {
			return 1
		}
		return 0
	}
	return 0.5 * math.Erfc(-math.Log(t/c.Service)/(c.Sigma*math.Sqrt2))
}

// erlang is the probability that all cores are busy at a load, if calls come independently.
func erlang(cores int, load float64) float64 {
	offered, blocked := load*float64(cores), 1.0
	for i := 1; i <= cores; i++ {
		blocked = offered * blocked / (float64(i) + offered*blocked)
	}
	return blocked / (1 - load*(1-blocked))
}

// Within is the share of calls that end within t seconds.
func (l *Latency) Within(t float64) float64 {
	if t < 0 {
		return 0
	}
	return l.done[min(int(t/l.step), len(l.done)-1)]
}

// Quantile is the time within which a share of calls ends, in seconds.
func (l *Latency) Quantile(share float64) float64 {
	return float64(sort.SearchFloat64s(l.done, share)) * l.step
}

// Second is the distribution with a second request to another machine after a time in seconds, at
// least the time within which all but MaxSecond of the calls end. The first answer counts.
func (l *Latency) Second(after float64) *Latency {
	after = max(after, l.Quantile(1-MaxSecond))
	out := &Latency{step: l.step, done: make([]float64, len(l.done))}
	for i := range out.done {
		t := float64(i) * l.step
		out.done[i] = 1 - (1-l.done[i])*(1-l.Within(t-after))
	}
	return out
}

// All is the distribution of the time until all of n independent calls have ended.
func (l *Latency) All(n int) *Latency {
	out := &Latency{step: l.step, done: make([]float64, len(l.done))}
	for i, p := range l.done {
		out.done[i] = math.Pow(p, float64(n))
	}
	return out
}
