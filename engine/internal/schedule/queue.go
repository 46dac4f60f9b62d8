package schedule

import "time"

// line holds the queued jobs of one kind, which may share batches, by class.
type line struct {
	lineKey
	at     int // in the lines that are not empty, -1 is empty
	n      int
	queues [3]queue
}

type lineKey struct {
	kind any
	mode Mode // forced; Auto follows the scheduler's
}

// queue holds the jobs of a class of a line, twice: by caller, the least served one first,
// and by arrival.
type queue struct {
	n           int
	load        uint64
	flows       heap[*flow]
	first, last *Job // by arrival
}

// flow holds the jobs of a caller in a queue.
type flow struct {
	caller *caller
	queue  *queue
	jobs   heap[*Job]
	at     int
}

func (f *flow) moved(_ uint8, at int) { f.at = at }

// caller is a client; callers are served evenly: start-time fair queueing (Goyal et al.
// 1996). Each has a virtual time, tag, when its next job should start. It grows by the time
// of its jobs. The caller with the least tag is served next. A caller that was idle starts
// at the virtual time of the last job that was served in turn.
type caller struct {
	name    string
	tag     time.Duration
	queued  int // jobs
	streams int
	flows   map[*queue]*flow
	last    *flow // of flows, that was asked for
}

func (c *caller) idle() bool { return c.queued == 0 && c.streams == 0 }

// callerNamed returns the caller, whose virtual time is never behind.
func (s *Scheduler) callerNamed(name string) *caller {
	c := s.callers[name]
	if c == nil {
		if len(s.callers) >= s.manyCallers {
			s.forget()
		}
		c = &caller{name: name, flows: map[*queue]*flow{}}
		s.callers[name] = c
	}
	if c.idle() {
		c.tag = max(c.tag, s.virtual)
	}
	return c
}

// forget drops callers and lines that hold nothing. A caller that has been served ahead of
// its turn is remembered while such callers are few.
func (s *Scheduler) forget() {
	ahead := 0
	for name, c := range s.callers {
		if c.idle() && c.tag <= s.virtual {
			delete(s.callers, name)
		} else if c.idle() {
			ahead++
		}
	}
	for name, c := range s.callers {
		if c.idle() && ahead > len(s.callers)/2 {
			delete(s.callers, name)
		}
	}
	s.manyCallers = max(minCallers, 2*len(s.callers))
	for key, l := range s.lines {
		if l.n > 0 {
			continue
		}
		delete(s.lines, key)
		s.lastLine = nil
		for _, c := range s.callers {
			c.last = nil
			for i := range l.queues {
				delete(c.flows, &l.queues[i])
			}
		}
	}
}

// Callers and kinds that are remembered without a look at whether they are needed.
const minCallers, manyLines = 64, 64

// charge adds the time of a job of c to its virtual time.
func (s *Scheduler) charge(c *caller, cost time.Duration) {
	s.virtual = max(s.virtual, c.tag)
	c.tag += max(cost, 1)
}

// lineOf returns the line of kind and mode.
func (s *Scheduler) lineOf(key lineKey) *line {
	if s.lastLine != nil && s.lastLine.lineKey == key {
		return s.lastLine
	}
	l := s.lines[key]
	if l == nil {
		if len(s.lines) >= manyLines {
			s.forget()
		}
		l = &line{lineKey: key, at: -1}
		s.lines[key] = l
	}
	s.lastLine = l
	return l
}

// flowIn returns where jobs of c wait in q.
func (c *caller) flowIn(q *queue) *flow {
	if c.last != nil && c.last.queue == q {
		return c.last
	}
	f := c.flows[q]
	if f == nil {
		f = &flow{caller: c, queue: q, jobs: heap[*Job]{id: byOrder}, at: absent}
		c.flows[q] = f
	}
	c.last = f
	return f
}

// enqueue makes j wait. It must be classified.
func (s *Scheduler) enqueue(j *Job, now time.Duration) {
	mode := j.Mode
	if j.solo {
		mode = Async
	}
	l, class := s.lineOf(lineKey{j.Kind, mode}), j.Trace.Class
	q, c := &l.queues[class], j.caller
	if c.idle() {
		c.tag = max(c.tag, s.virtual)
	}
	f := c.flowIn(q)
	j.line, j.flow = l, f
	key := j.arrived + time.Duration(s.opt.Patience*float64(j.best))
	if j.late {
		key += behind
	}
	f.jobs.push(key, j.seq, j)
	if f.at == absent {
		q.flows.push(c.tag, j.seq, f)
	}
	q.link(j)
	if j.deadline != never && !j.late {
		last := j.deadline - j.best - s.opt.Slack
		j.latest = last - max(0, last-j.arrived)/8
		s.urgent[class].push(j.latest, j.seq, j)
		if j.latest > now { // else dispatch, which follows, sees it
			s.arm(j.latest)
		}
	}
	if l.at < 0 {
		l.at = len(s.waiting)
		s.waiting = append(s.waiting, l)
	}
	l.n++
	q.n++
	q.load += j.Load
	c.queued++
	if j.stream != nil {
		j.stream.queued++
	}
	s.queued[class]++
	s.unseen = true
	for p := range s.processors {
		if s.can(j, p) {
			s.work[class][p] += j.cost(p)
		}
	}
}

// behind is the place in the order of jobs that cannot meet their deadlines any more.
const behind = 1 << 60

// dequeue takes j from where it waits.
func (s *Scheduler) dequeue(j *Job) {
	l, f, class := j.line, j.flow, j.Trace.Class
	q := &l.queues[class]
	j.line, j.flow = nil, nil
	f.jobs.remove(j.at[byOrder])
	if f.jobs.len() == 0 {
		q.flows.remove(f.at)
	}
	q.unlink(j)
	if j.at[byUrgency] != absent {
		s.urgent[class].remove(j.at[byUrgency])
	}
	if l.n--; l.n == 0 {
		last := s.waiting[len(s.waiting)-1]
		s.waiting[l.at], last.at = last, l.at
		s.waiting[len(s.waiting)-1] = nil
		s.waiting = s.waiting[:len(s.waiting)-1]
		l.at = -1
	}
	q.n--
	q.load -= j.Load
	j.caller.queued--
	if j.stream != nil {
		j.stream.queued--
	}
	s.queued[class]--
	for p := range s.processors {
		if s.can(j, p) {
			s.work[class][p] -= j.cost(p)
		}
	}
}

// link puts j where it belongs by arrival: at the end, unless it runs once more.
func (q *queue) link(j *Job) {
	prev := q.last
	if prev != nil && j.arrived-q.first.arrived < prev.arrived-j.arrived {
		for prev = q.first; prev.arrived <= j.arrived; {
			prev = prev.next
		}
		prev = prev.prev // of the first that is younger
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

func (q *queue) unlink(j *Job) {
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

// head returns the job that is next: of the least served caller the first in its order.
// Virtual times of callers grow while they wait, which is caught up with here.
func (q *queue) head() *Job {
	for q.flows.len() > 0 {
		e := q.flows.top()
		if e.key == e.item.caller.tag {
			return e.item.jobs.top().item
		}
		q.flows.rekey(e.item.at, e.item.caller.tag)
	}
	return nil
}
