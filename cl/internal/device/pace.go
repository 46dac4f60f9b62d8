package device

import (
	"math"
	"sync/atomic"
	"time"
)

// Drivers of display devices reset a device whose launch takes seconds (2 s on Windows), and a long launch delays
// all other work of the device. So a launch of many work-groups is cut into pieces of less than longLaunch. How
// many work-groups that are is measured, for each kernel: a piece that takes less than shortLaunch doubles
// the number, a longer one than longLaunch reduces it. Launches below the number are whole and not measured. Work-groups of
// other queries may take ten times as long: no launch takes more than 100 ms then. Launches of LaunchWhole have no such bound.
const (
	longLaunch  = 10 * time.Millisecond
	shortLaunch = 4 * time.Millisecond
	firstGroups = 8 // the number for a compute unit at first
	checkEach   = 4 // a known number is measured again at every fourth cut
)

// pace is the number of work-groups of a kernel that take less than longLaunch. It is safe for concurrent use.
type pace struct {
	most  atomic.Int64
	known atomic.Int64 // cuts since a piece took between shortLaunch and longLaunch, plus one; 0: none did
	fixed int          // in place of most, in tests
}

// paceOf returns the pace of a kernel on the device.
func (rt *Runtime) paceOf(id KernelID) *pace {
	known, ok := rt.paces.Load(id)
	if !ok {
		p := &pace{fixed: rt.FewGroups}
		if p.most.Store(int64(firstGroups * rt.Info.ComputeUnits)); rt.Info.Type == "cpu" { // nobody resets a CPU
			p.most.Store(math.MaxInt64)
		}
		known, _ = rt.paces.LoadOrStore(id, p)
	}
	return known.(*pace)
}

// groups is the number of work-groups that a launch may have.
func (p *pace) groups() int {
	if p.fixed > 0 {
		return p.fixed
	}
	return int(p.most.Load())
}

// cut enqueues a launch of so many steps of `beside` work-groups in pieces, none of which begins behind step `reach`. It
// waits for the pieces that it measures.
func (p *pace) cut(steps, beside, reach int, finish func() error, enqueue func(from, n int) error) error {
	measure := p.fixed == 0
	if measure && p.known.Load() > 0 {
		measure = p.known.Add(1)%checkEach == 0
	}
	if measure {
		if err := finish(); err != nil {
			return err
		}
	}
	for from := 0; from < steps; {
		most := p.groups()
		n := min(max(most/beside, 1), steps-from)
		if from+n > reach {
			n = steps - from
		}
		began := time.Now()
		if err := enqueue(from, n); err != nil {
			return err
		}
		if from += n; !measure {
			continue
		}
		if err := finish(); err != nil {
			return err
		}
		p.learn(n*beside, most, time.Since(began))
	}
	return nil
}

// learn notes that a piece of so many work-groups, of which most were allowed, took a time.
func (p *pace) learn(groups, most int, took time.Duration) {
	switch {
	case took > longLaunch:
		p.known.Store(0)
		p.most.CompareAndSwap(int64(most), max(int64(float64(groups)*float64(longLaunch)/2/float64(took)), 1))
	case took < shortLaunch && groups < most/2: // too few to tell
	case took < shortLaunch:
		p.known.Store(0)
		p.most.CompareAndSwap(int64(most), int64(most)*2)
	default:
		p.known.CompareAndSwap(0, 1)
	}
}
