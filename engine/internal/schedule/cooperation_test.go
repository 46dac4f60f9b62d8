package schedule

import (
	"testing"
	"time"

	"heddle/engine/plan/testneeds"
)

// With host and device no measure is worse than with the better one alone, whatever their
// costs: the rule of cooperation.
func TestRuleOfCooperation(t *testing.T) {
	testneeds.Sequential(t)
	machines := []uint64{0, 1, 2, 46} // each takes seconds
	if testneeds.Full() {
		machines = []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 28, 45, 46, 55, 58, 110} // the last ones were worse once
	}
	for _, seed := range machines {
		m := anyMachine(seed)
		deadline := []time.Duration{5 * ms, 15 * ms, 50 * ms}[seed%3]
		better := max(m.sustained(t, alone, deadline), m.sustained(t, beside, deadline))
		if !m.sustainTogether(t, better, deadline) {
			t.Errorf("machine %d: together they do not sustain the %.0f queries/s of the better one within %v: %v", seed, better, deadline, m)
		}
		for _, c := range []struct {
			p     int
			share float64
		}{{50, 0.1}, {50, 0.5}, {99, 0.5}} { // under light load, errors of estimates decide p99
			if got, best := m.delayTogether(t, c.p, c.share*better, deadline); got > 0 {
				t.Errorf("machine %d: p%d at %.0f of %.0f queries/s is %v, %v on the better one: %v", seed, c.p, c.share*better, better, got, best, m)
			}
		}
		const queries = 2000
		host, device, together := m.callTakes(t, alone, queries), m.callTakes(t, beside, queries), m.callTakes(t, both, queries)
		if isWorse(together, min(host, device)) {
			t.Errorf("machine %d: a call takes %v together, %v on the host, %v on the device: %v", seed, together, host, device, m)
		}
	}
}

// Two devices and the host end a call as soon as the two devices alone.
func TestTwoDevicesAndHost(t *testing.T) {
	testneeds.Sequential(t)
	for seed := range uint64(12) {
		m := anyMachine(seed)
		m.devices = 2
		const queries = 20_000
		devices, together := m.callTakes(t, beside, queries), m.callTakes(t, both, queries)
		if isWorse(together, devices) {
			t.Errorf("machine %d: a call takes %v together, %v on the devices: %v", seed, together, devices, m)
		}
	}
}

// worse is by how much two processors may be worse than one, and least the smallest
// difference that counts.
const worse, least = 1.03, 20 * time.Microsecond

func isWorse(together, best time.Duration) bool {
	return float64(together) > worse*float64(best)+float64(least)
}

// loads is the number of loads in which a measure must be worse, because arrivals are random.
const loads = 3

// sustainTogether tells whether both processors sustain the rate of the better one. Loads that
// the better one does not sustain itself do not count.
func (m *machine) sustainTogether(t *testing.T, better float64, deadline time.Duration) bool {
	fair := true
	for seed := range uint64(loads) {
		if m.holds(t, both, better/worse, deadline, seed) {
			return true
		}
		if m.holds(t, alone, better, deadline, seed) || m.holds(t, beside, better, deadline, seed) {
			fair = false
		}
	}
	return fair
}

// delayTogether returns a percentile of the delays with both processors, and of the better one;
// 0 if it is not worse.
func (m *machine) delayTogether(t *testing.T, p int, rate float64, deadline time.Duration) (together, best time.Duration) {
	for seed := range uint64(loads) {
		n := m.arrivals(rate, deadline)
		together, best = m.load(t, both, rate, n, deadline, seed).percentile(n, p), never
		for _, one := range []use{alone, beside} {
			best = min(best, m.load(t, one, rate, n, deadline, seed).percentile(n, p))
		}
		if best == never || !isWorse(together, best) {
			return 0, 0
		}
	}
	return together, best
}
