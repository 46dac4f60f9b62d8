package cl

import (
	"cmp"
	"slices"
	"time"
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/engine/plan"
)

// upload is items on their way into a cache.
type upload struct {
	items []uint32
	sent  chan struct{} // closed when all commands are enqueued, or one failed
	done  chan struct{} // closed when the items are there, or dropped
	// What follows is written before sent or done is closed.
	first *ocl.Event // the first command, where the backend profiles
	event *ocl.Event // the last one; nil after a failure
	took  time.Duration
	bytes uint64
	err   error

	refs int   // of events; guarded by listCache.mu
	last *pins // that has noted it; guarded by listCache.mu
}

func newUpload(items []uint32) *upload {
	return &upload{items: items, sent: make(chan struct{}), done: make(chan struct{}), refs: 1}
}

// unref releases the events with the last call.
func (u *upload) unref() {
	if u.refs--; u.refs == 0 {
		u.event.Release()
		u.first.Release()
	}
}

// What lists go through on their way.
const (
	stageCount   = 4
	stageBytes   = 4 << 20
	writesAtOnce = 32 // that others wait for
)

// listStage is pinned memory, and what must end before it can be filled again: a command, or
// an upload that ends with it.
type listStage struct {
	*pinned
	event  *ocl.Event
	upload *upload
}

// clear waits until the stage can be filled.
func (s *listStage) clear() (err error) {
	if s.upload != nil {
		<-s.upload.done // who asked for it has been told how it went
	}
	if s.event != nil {
		err = ocl.WaitForEvents([]*ocl.Event{s.event})
		s.event.Release()
	}
	s.event, s.upload = nil, nil
	return err
}

func (s *listStage) release(b *Backend) {
	_ = s.clear()
	s.pinned.release(b)
}

// words are what item i holds.
func (c *listCache) words(i uint32) []uint32 {
	src := c.store.src
	if i < c.lists {
		l := &src.Lists[i]
		return src.Words[l.Off : l.Off+uint64(l.Words)]
	}
	l := &src.Lists[i-c.lists]
	return src.Freqs[l.FreqOff : l.FreqOff+uint64(l.FreqWords)]
}

// piece is a part of an item that goes to a stage.
type piece struct {
	to   int // in the stage, in words
	from []uint32
}

// listWrite is a command: words of the stage to one range of a buffer.
type listWrite struct {
	buffer      uint32
	to          uint64 // in words
	from, words int
}

// send brings in what the part has found missing. It runs with the turn. Errors are those
// of the upload.
func (c *listCache) send(p *pins) {
	u := p.own
	err := c.enqueue(u)
	if err != nil {
		u.err = c.store.backend.fail("uploading lists", err)
		_ = c.queue.Finish() // what was enqueued must end before its places are others'
	}
	close(u.sent)
	c.arriving.Add(1)
	go c.arrive(p)
}

// arrive waits for an upload. Items that did not come are dropped.
func (c *listCache) arrive(p *pins) {
	defer c.arriving.Done()
	u, b := p.own, c.store.backend
	if u.event != nil {
		if u.err = b.fault("wait"); u.err == nil {
			u.err = b.fail("uploading lists", ocl.WaitForEvents([]*ocl.Event{u.event}))
		} else {
			_ = ocl.WaitForEvents([]*ocl.Event{u.event})
		}
		if u.first != nil && u.err == nil {
			from, err1 := u.first.GetEventProfilingInfo(ocl.ProfilingInfoCommandStart)
			to, err2 := u.event.GetEventProfilingInfo(ocl.ProfilingInfoCommandEnd)
			u.took, u.err = time.Duration(to-from), b.fail("reading device times", cmp.Or(err1, err2))
		}
	}
	c.mu.Lock()
	for _, item := range u.items {
		delete(c.coming, item)
	}
	if u.err != nil {
		c.items.Drop(u.items)
	}
	u.unref()
	c.mu.Unlock()
	close(u.done)
	p.release()
}

// enqueue enqueues the writes of an upload, stage by stage; neighbours in a buffer are one.
func (c *listCache) enqueue(u *upload) error {
	slices.SortFunc(u.items, func(x, y uint32) int {
		p, q := c.placeOf(x), c.placeOf(y)
		return cmp.Or(cmp.Compare(p.buffer, q.buffer), cmp.Compare(p.off, q.off))
	})
	var pieces []piece
	var writes []listWrite
	filled, room := 0, 0
	for _, item := range u.items {
		at, words := c.placeOf(item), c.words(item)
		u.bytes += c.items.Bytes(item)
		to := uint64(at.off) * plan.ListAlign
		for len(words) > 0 {
			if filled == room {
				if room > 0 {
					if err := c.flush(u, pieces, writes, false); err != nil {
						return err
					}
				}
				pieces, writes, filled = pieces[:0], writes[:0], 0
				if err := c.stages[c.next].clear(); err != nil {
					return err
				}
				room = len(c.stages[c.next].words)
			}
			n := min(len(words), room-filled)
			pieces = append(pieces, piece{filled, words[:n]})
			whole := (n + plan.ListAlign - 1) / plan.ListAlign * plan.ListAlign // a stage has room for it
			if w := len(writes) - 1; w >= 0 && writes[w].buffer == at.buffer && writes[w].to+uint64(writes[w].words) == to {
				writes[w].words += whole
			} else {
				writes = append(writes, listWrite{at.buffer, to, filled, whole})
			}
			filled, to, words = filled+whole, to+uint64(whole), words[n:]
		}
	}
	return c.flush(u, pieces, writes, true)
}

// placeOf is where an item lies that the part of who has the turn has pinned.
func (c *listCache) placeOf(item uint32) place {
	if item < c.lists {
		return c.store.places[item]
	}
	return c.freqs[item-c.lists]
}

// flush fills the next stage and enqueues its writes.
func (c *listCache) flush(u *upload, pieces []piece, writes []listWrite, last bool) error {
	b, s := c.store.backend, &c.stages[c.next]
	total := 0
	for _, p := range pieces {
		total += len(p.from)
	}
	inParallel(len(pieces), total/16, func(i int) {
		p := &pieces[i]
		n := p.to + copy(s.words[p.to:], p.from)
		clear(s.words[n:min((n+plan.ListAlign-1)/plan.ListAlign*plan.ListAlign, len(s.words))])
	})
	var event *ocl.Event
	for from := 0; from < len(writes); from += writesAtOnce {
		err := b.do(func() error {
			if err := b.fault("upload"); err != nil {
				return err
			}
			for _, w := range writes[from:min(from+writesAtOnce, len(writes))] {
				e, err := c.queue.EnqueueWriteBuffer(c.store.arena.buffers[w.buffer], false, int(4*w.to), 4*w.words, unsafe.Pointer(&s.words[w.from]), nil)
				if err != nil {
					return err
				}
				if event != u.first {
					event.Release()
				}
				if event = e; b.opt.Profiling && u.first == nil {
					u.first = e
				}
			}
			return c.queue.Flush()
		})
		if err != nil {
			if event != u.first {
				event.Release()
			}
			return err
		}
	}
	if last {
		u.event, s.upload = event, u
	} else {
		s.event = event
	}
	c.next = (c.next + 1) % len(c.stages)
	return nil
}
