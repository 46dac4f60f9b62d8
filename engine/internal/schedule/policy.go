package schedule

import (
	"fmt"
	"strings"
	"time"
)

// Policy decides what runs where. The mechanism decides the order by fairness and deadlines, and
// offers jobs in that order. A policy has no goroutine and no clock. Its methods run under the
// scheduler's lock, must be quick, and change nothing of the view.
type Policy interface {
	// Mode is how jobs without a mode of their own run now: Async or Sync.
	Mode() Mode
	// Place sets the class and the costs of j, at its arrival and before each further attempt.
	// It returns the processor on which an arriving job begins at once; nil: the job waits.
	Place(j *Job, v *view) *processor
	// Next answers the offer of j to p, which has a free lane. An idle processor may take any waiting
	// job; then j is nil.
	Next(p *processor, t turn, j *Job, v *view) decision
	// Block is the largest number of queries of the next block of t on p; 0: p takes none.
	Block(p *processor, t *stream, v *view) int
	// Done tells that b has ended without an error.
	Done(b *Batch, v *view)
}

// turn is the reason for an offer.
type turn uint8

const (
	inTurn   turn = iota // the job is next by fairness
	starving             // the job has waited for starvationLimit or longer
	urgent               // the job must start now to meet its deadline
	idle                 // p has nothing else to do
)

// decision is the answer to an offer. The zero value declines.
type decision struct {
	mode   Mode          // Async: the job alone; Sync: a batch; Auto: p declines
	job    *Job          // the choice of an idle processor
	stolen bool          // the batch continues with the youngest jobs of the queue, not in turn
	wait   bool          // the job is right for p, but the cores that it needs are taken
	again  time.Duration // time of the next offer, at the latest; 0: at the next event
}

// policies are the names of policies, the modes that they force, and their constructors for a number
// of processors.
var policies = []namedPolicy{
	{"cooperative", Auto, newCooperative},
	{"device-first", Auto, newDeviceFirst},
	{"wu", Auto, newWu},
	{"wu-async", Async, newWu},
	{"wu-sync", Sync, newWu},
	{"ding", Auto, newDing},
}

type namedPolicy struct {
	name string
	mode Mode
	make func(opt *Options, processors int) Policy
}

// policyOf returns the policy with this name, in any case of letters. Empty is the first one.
func policyOf(name string) (namedPolicy, error) {
	for _, p := range policies {
		if name == "" || strings.EqualFold(p.name, name) {
			return p, nil
		}
	}
	return namedPolicy{}, fmt.Errorf("unknown policy %q (one of %s)", name, strings.Join(Policies(), ", "))
}

// Policies returns the names of the policies. The first one is the default.
func Policies() (names []string) {
	for _, p := range policies {
		names = append(names, p.name)
	}
	return names
}

// CheckPolicy returns an error unless name is a policy.
func CheckPolicy(name string) error {
	_, err := policyOf(name)
	return err
}
