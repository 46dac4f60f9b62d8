package schedule

import (
	"slices"
	"time"
)

// kindQueue holds the waiting jobs of one kind and one forced mode, which may share batches, by
// class.
type kindQueue struct {
	kindKey
	jobs     int
	queues   [3]classQueue
	closesAt uint64 // load at which the batch closes that a processor waits for; 0: none waits
}

func (l *kindQueue) load() uint64 {
	return l.queues[Either].load + l.queues[Device].load + l.queues[Host].load
}

type kindKey struct {
	kind any
	mode Mode // forced by the jobs; Auto: the scheduler's mode
}

// classQueue holds the waiting jobs of a kind and a class in two orders: by caller, the least
// served caller first, and by arrival.
type classQueue struct {
	jobs        int
	load        uint64             // sum of Job.Load
	callers     heap[*callerQueue] // by virtual start
	first, last *Job               // oldest and youngest, linked by Job.next and Job.prev
}

// callerQueue holds the waiting jobs of a caller in a classQueue.
type callerQueue struct {
	caller   *caller
	queue    *classQueue
	jobs     heap[*Job] // byOrder
	position int        // in classQueue.callers, or absent
}

func (f *callerQueue) moved(_ uint8, at int) { f.position = at }

// caller is a client. Callers share the processors by start-time fair queueing (Goyal et al.
// 1996): the caller with the least virtual start is served next, and its virtual start grows by
// the estimated time of the job. An idle caller resumes at the virtual time of the last job
// that was served in its turn.
type caller struct {
	name         string
	virtualStart time.Duration
	queuedJobs   int
	streams      int
	queues       map[*classQueue]*callerQueue
	lastQueue    *callerQueue // last result of queueIn
}

// clients are the callers and kinds that a scheduler knows.
type clients struct {
	callers       map[string]*caller
	lastCaller    *caller       // the last result of callerNamed
	pruneAt       int           // number of callers at which idle ones are forgotten
	virtualTime   time.Duration // virtual start of the caller that was served last in its turn
	kindQueues    map[kindKey]*kindQueue
	lastKindQueue *kindQueue // the last result of kindQueueOf
}

func (c *caller) idle() bool { return c.queuedJobs == 0 && c.streams == 0 }

// callerNamed returns the caller, whose virtual time is never behind.
func (f *clients) callerNamed(name string) *caller {
	c := f.lastCaller
	if c == nil || c.name != name {
		c = f.callers[name]
	}
	if c == nil {
		if len(f.callers) >= f.pruneAt {
			f.prune()
		}
		c = &caller{name: name, queues: map[*classQueue]*callerQueue{}}
		f.callers[name] = c
	}
	if c.idle() {
		c.virtualStart = max(c.virtualStart, f.virtualTime)
	}
	f.lastCaller = c
	return c
}

// prune drops callers and kinds without waiting jobs. A caller that has been served ahead of
// its turn is remembered while such callers are few.
func (f *clients) prune() {
	ahead := 0
	f.lastCaller = nil
	for name, c := range f.callers {
		if c.idle() && c.virtualStart <= f.virtualTime {
			delete(f.callers, name)
		} else if c.idle() {
			ahead++
		}
	}
	for name, c := range f.callers {
		if c.idle() && ahead > len(f.callers)/2 {
			delete(f.callers, name)
		}
	}
	f.pruneAt = max(minCallers, 2*len(f.callers))
	for key, l := range f.kindQueues {
		if l.jobs > 0 {
			continue
		}
		delete(f.kindQueues, key)
		f.lastKindQueue = nil
		for _, c := range f.callers {
			c.lastQueue = nil
			for i := range l.queues {
				delete(c.queues, &l.queues[i])
			}
		}
	}
}

// Forget drops the kinds without waiting jobs, and all that these kinds refer to.
func (s *Scheduler) Forget() {
	s.lock()
	defer s.unlock()
	s.prune()
}

// Callers and kinds that are remembered without a look at whether they are needed.
const minCallers, minKinds = 64, 64

// charge adds the time of a job of c to its virtual time.
func (f *clients) charge(c *caller, cost time.Duration) {
	f.virtualTime = max(f.virtualTime, c.virtualStart)
	c.virtualStart += max(cost, 1)
}

// kindQueueOf returns the queue of a kind and a forced mode.
func (f *clients) kindQueueOf(key kindKey) *kindQueue {
	if f.lastKindQueue != nil && f.lastKindQueue.kindKey == key {
		return f.lastKindQueue
	}
	l := f.kindQueues[key]
	if l == nil {
		if len(f.kindQueues) >= minKinds {
			f.prune()
		}
		l = &kindQueue{kindKey: key}
		f.kindQueues[key] = l
	}
	f.lastKindQueue = l
	return l
}

// queueIn returns the queue of the jobs of c in q.
func (c *caller) queueIn(q *classQueue) *callerQueue {
	if c.lastQueue != nil && c.lastQueue.queue == q {
		return c.lastQueue
	}
	f := c.queues[q]
	if f == nil {
		f = &callerQueue{caller: c, queue: q, jobs: heap[*Job]{id: byOrder}, position: absent}
		c.queues[q] = f
	}
	c.lastQueue = f
	return f
}

// enqueue makes j wait. It must be classified.
func (s *Scheduler) enqueue(j *Job, now time.Duration) {
	mode := j.Mode
	if j.runsAlone {
		mode = Async
	}
	l, class := s.kindQueueOf(kindKey{j.Kind, mode}), j.Trace.Class
	q, c := &l.queues[class], j.caller
	if c.idle() {
		c.virtualStart = max(c.virtualStart, s.virtualTime)
	}
	f := c.queueIn(q)
	j.kindQueue, j.callerQueue = l, f
	key := j.arrived + patience*j.bestTime
	if j.postponed {
		key += postponedKey
	}
	f.jobs.push(key, j.seq, j)
	if f.position == absent {
		q.callers.push(c.virtualStart, j.seq, f)
	}
	q.link(j)
	if j.deadline != never && !j.postponed {
		last := j.lastStart()
		urgentAt := last - max(0, last-j.arrived)/8
		s.urgentJobs[class].push(urgentAt, j.seq, j)
		if s.undispatched = s.undispatched || urgentAt <= now; urgentAt > now {
			s.arm(urgentAt)
		}
	}
	if l.jobs++; l.jobs == 1 {
		s.nonEmpty = append(s.nonEmpty, l)
	}
	q.jobs++
	q.load += j.Load
	c.queuedJobs++
	if j.stream != nil {
		j.stream.requeuedBlocks++
	}
	s.queued[class]++
	// A job behind the first one changes no decision on a batch that is not full.
	s.undispatched = s.undispatched || l.load() >= l.closesAt || q.head() == j
	for p := range s.processors {
		if s.eligible(j, p) {
			s.queuedTime[class][p] += j.cost(p)
		}
	}
}

// patience bounds overtaking: only jobs that arrive within this multiple of the run time of a job may pass
// it.
const patience = 4

// slack is added to the estimated time of a job to find the moment at which it must start to meet its
// deadline. When 7/8 of the time until then have passed, the job is urgent; after that moment it waits
// behind jobs that can still be in time.
const slack = time.Millisecond

func (j *Job) lastStart() time.Duration { return j.deadline - j.bestTime - slack }

// postponedKey is added to the order of jobs that are too late for their deadlines, so that they come last.
const postponedKey = 1 << 60

// dequeue takes j from where it waits.
func (s *Scheduler) dequeue(j *Job) {
	l, f, class := j.kindQueue, j.callerQueue, j.Trace.Class
	q := &l.queues[class]
	j.kindQueue, j.callerQueue = nil, nil
	f.jobs.remove(j.positions[byOrder])
	if f.jobs.len() == 0 {
		q.callers.remove(f.position)
	}
	q.unlink(j)
	if j.positions[byUrgency] != absent {
		s.urgentJobs[class].remove(j.positions[byUrgency])
	}
	if l.jobs--; l.jobs == 0 {
		s.nonEmpty = without(s.nonEmpty, l)
	}
	q.jobs--
	q.load -= j.Load
	j.caller.queuedJobs--
	if j.stream != nil {
		j.stream.requeuedBlocks--
	}
	s.queued[class]--
	for p := range s.processors {
		if s.eligible(j, p) {
			s.queuedTime[class][p] -= j.cost(p)
		}
	}
}

// without returns s less x, which is in s, in the same memory.
func without[T comparable](s []T, x T) []T {
	i := slices.Index(s, x)
	return slices.Delete(s, i, i+1)
}

// link puts j where it belongs by arrival: at the end, unless it runs once more.
func (q *classQueue) link(j *Job) {
	prev := q.last
	if prev != nil && j.arrived-q.first.arrived < prev.arrived-j.arrived {
		for prev = q.first; prev.arrived <= j.arrived; {
			prev = prev.next
		}
		prev = prev.prev // before the first job that is younger
	} else {
		for prev != nil && prev.arrived > j.arrived {
			prev = prev.prev
		}
	}
	j.prev, j.next = prev, q.first
	if prev != nil {
		j.next, prev.next = prev.next, j
	} else {
		q.first = j
	}
	if j.next != nil {
		j.next.prev = j
	} else {
		q.last = j
	}
}

func (q *classQueue) unlink(j *Job) {
	if j.prev != nil {
		j.prev.next = j.next
	} else {
		q.first = j.next
	}
	if j.next != nil {
		j.next.prev = j.prev
	} else {
		q.last = j.prev
	}
	j.prev, j.next = nil, nil
}

// head returns the next job: the first one of the least served caller; nil: q is empty. A caller's virtual
// start may have grown since it was put into the heap, so head first moves such callers.
func (q *classQueue) head() *Job {
	for q.callers.len() > 0 {
		e := q.callers.top()
		if e.key == e.item.caller.virtualStart {
			return e.item.jobs.top().item
		}
		q.callers.rekey(e.item.position, e.item.caller.virtualStart)
	}
	return nil
}
