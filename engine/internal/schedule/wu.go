package schedule

import "time"

// wu is the cooperative model of Wu et al. 2010. Under light load, mode Async, each job runs alone on
// the processor with the least predicted time (section V.B.6; the metric of the prediction, for
// example UBOC, belongs to the cost model). Under heavy load, mode Sync, devices run batches that
// close at the computational threshold S·T·B (sections IV and V.B.1) or at the age MaxAge of the
// oldest job. Several devices pull from one queue (section V.B.5). The host runs the jobs that no
// device can.
type wu struct{ modeSwitch }

func newWu(opt *Options, _ int) Policy { return &wu{newModeSwitch(opt)} }

// Place implements Policy.
func (w *wu) Place(j *Job, v *view) *processor {
	arrives, best := w.price(j, v), v.fastest(j, Either)
	j.Trace.Class, j.similarCost = best.class, never
	if j.batchPriced && v.fastest(j, Device) != nil {
		j.Trace.Class = Device
	}
	if arrives && !j.batchPriced && v.placeable(j, best) {
		return best
	}
	return nil
}

// Next implements Policy: p takes the jobs of its class, alone or when their batch closes.
func (w *wu) Next(p *processor, t turn, j *Job, v *view) decision {
	if t == idle || j.Trace.Class != p.class || !v.eligible(j, p.index) {
		return decision{}
	}
	mode := v.modeOf(j.kindQueue)
	if mode == Sync && t != urgent {
		return v.closes(j.kindQueue, p)
	}
	return decision{mode: mode}
}

// Block implements Policy: the host takes blocks if no device can.
func (w *wu) Block(p *processor, t *stream, v *view) int { return devicesBlock(p, t, v) }

// Done implements Policy.
func (w *wu) Done(*Batch, *view) {}

// modeSwitch chooses Async under light load and Sync under heavy load (Wu et al. 2010, section III;
// Bonacic et al. 2008), with hysteresis.
type modeSwitch struct {
	opt       *Options
	mode      Mode
	changedAt time.Duration
}

func newModeSwitch(opt *Options) modeSwitch {
	m := modeSwitch{opt: opt, mode: opt.Mode}
	if m.mode == Auto {
		m.mode = Async
	}
	return m
}

// Mode implements Policy.
func (m *modeSwitch) Mode() Mode { return m.mode }

// price prepares the costs of j for the mode in which it runs, and says whether j arrives: at an
// arrival the mode follows the load first.
func (m *modeSwitch) price(j *Job, v *view) (arrives bool) {
	if j.stream != nil || j.Trace.Attempts > 0 {
		return false
	}
	m.follow(v)
	j.batchPriced = j.Mode == Sync || j.Mode == Auto && m.mode == Sync
	return true
}

// follow changes to Sync above Enter or with a backlog, at once, and to Async below Leave, after Hold.
func (m *modeSwitch) follow(v *view) {
	if m.opt.Mode != Auto || !v.rateFell && m.mode == Sync {
		return
	}
	to, load := m.mode, v.load()
	switch {
	case load > m.opt.Enter || m.mode == Async && v.hasBacklog():
		to = Sync
	case load < m.opt.Leave && v.lockedAt-m.changedAt >= m.opt.Hold && !v.hasBacklog():
		to = Async
	}
	if to != m.mode {
		m.mode, m.changedAt = to, v.lockedAt
	}
}

// hasBacklog says whether the load is heavy, whatever its estimate: more than four jobs wait for each
// lane, or a job has waited for eight times MaxAge and twice its own time.
func (v *view) hasBacklog() bool {
	for class := range v.queued {
		if v.queued[class] > 4*v.singleLanes(Class(class)) {
			return true
		}
	}
	for _, q := range v.nonEmpty {
		for class := range q.queues {
			if j := q.queues[class].first; j != nil && q.mode == Auto && v.lockedAt-j.arrived > 8*v.opt.MaxAge+2*j.bestTime {
				return true
			}
		}
	}
	return false
}
