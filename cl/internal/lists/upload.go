package lists

import (
	"cmp"
	"slices"
	"time"
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/engine/plan"
)

// upload is a group of items under way into a cache.
type upload struct {
	items []uint32
	sent  chan struct{} // closed when all commands are enqueued, or one failed
	done  chan struct{} // closed when the items are resident, or dropped
	// The fields below are written before sent or done is closed.
	first *ocl.Event // the first command, if the device profiles
	event *ocl.Event // the last one; nil after a failure
	took  time.Duration
	bytes uint64
	err   error

	refs int   // holders of the events; guarded by Cache.mu
	last *Pins // the last one that has noted the upload; guarded by Cache.mu
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

const (
	stageCount   = 4       // staging buffers
	stageBytes   = 4 << 20 // bytes of each
	writesAtOnce = 32      // commands that one holder of Runtime.Do enqueues
)

// stage is a staging buffer. The command, or the upload that ends with it, must end
// before the buffer is filled again.
type stage struct {
	*device.Pinned
	event  *ocl.Event
	upload *upload
}

// clear waits until the stage can be filled.
func (s *stage) clear() (err error) {
	if s.upload != nil {
		<-s.upload.done // its caller receives the result
	}
	if s.event != nil {
		err = ocl.WaitForEvents([]*ocl.Event{s.event})
		s.event.Release()
	}
	s.event, s.upload = nil, nil
	return err
}

func (s *stage) release(rt *device.Runtime) {
	_ = s.clear()
	s.Pinned.Release(rt)
}

// words returns the content of item i.
func (c *Cache) words(i uint32) []uint32 {
	src := c.set.Src
	if i < c.lists {
		l := &src.Lists[i]
		return src.Words[l.Off : l.Off+uint64(l.Words)]
	}
	l := &src.Lists[i-c.lists]
	return src.Freqs[l.FreqOff : l.FreqOff+uint64(l.FreqWords)]
}

// piece is a part of an item that a stage holds.
type piece struct {
	to   int // first word in the stage
	from []uint32
}

// write is a command that copies words of a stage to a range of a buffer.
type write struct {
	buffer      uint32
	to          uint64 // in words
	from, words int
}

// send enqueues the upload of the missing lists of p. It runs with the turn. Errors go to
// the upload.
func (c *Cache) send(p *Pins) {
	u := p.own
	err := c.enqueue(u)
	if err != nil {
		u.err = c.set.Device.Fail("uploading lists", err)
		_ = c.queue.Finish() // enqueued commands must end before their places are reused
	}
	close(u.sent)
	c.arriving.Add(1)
	go c.arrive(p)
}

// arrive waits for an upload and drops the items of a failed one.
func (c *Cache) arrive(p *Pins) {
	defer c.arriving.Done()
	u, b := p.own, c.set.Device
	if u.event != nil {
		if u.err = b.Fault("wait"); u.err == nil {
			u.err = b.Fail("uploading lists", ocl.WaitForEvents([]*ocl.Event{u.event}))
		} else {
			_ = ocl.WaitForEvents([]*ocl.Event{u.event})
		}
		if u.first != nil && u.err == nil {
			u.took, u.err = b.Took(u.first, u.event)
		}
	}
	c.mu.Lock()
	for _, item := range u.items {
		delete(c.Coming, item)
	}
	if u.err != nil {
		c.Items.Drop(u.items)
	}
	u.unref()
	c.mu.Unlock()
	close(u.done)
	p.Release()
}

// enqueue enqueues the writes of an upload, stage by stage. Neighbours in a buffer take
// one command.
func (c *Cache) enqueue(u *upload) error {
	slices.SortFunc(u.items, func(x, y uint32) int {
		p, q := c.placeOf(x), c.placeOf(y)
		return cmp.Or(cmp.Compare(p.Buffer, q.Buffer), cmp.Compare(p.Off, q.Off))
	})
	var pieces []piece
	var writes []write
	filled, room := 0, 0
	for _, item := range u.items {
		at, words := c.placeOf(item), c.words(item)
		u.bytes += c.Items.Bytes(item)
		to := uint64(at.Off) * plan.ListAlign
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
				room = len(c.stages[c.next].Words)
			}
			n := min(len(words), room-filled)
			pieces = append(pieces, piece{filled, words[:n]})
			whole := (n + plan.ListAlign - 1) / plan.ListAlign * plan.ListAlign // a stage has room for it
			if w := len(writes) - 1; w >= 0 && writes[w].buffer == at.Buffer && writes[w].to+uint64(writes[w].words) == to {
				writes[w].words += whole
			} else {
				writes = append(writes, write{at.Buffer, to, filled, whole})
			}
			filled, to, words = filled+whole, to+uint64(whole), words[n:]
		}
	}
	return c.flush(u, pieces, writes, true)
}

// placeOf returns the place of an item that the holder of the turn has pinned.
func (c *Cache) placeOf(item uint32) Place {
	if item < c.lists {
		return c.set.Places[item]
	}
	return c.Freqs[item-c.lists]
}

// flush fills the next stage and enqueues its writes.
func (c *Cache) flush(u *upload, pieces []piece, writes []write, last bool) error {
	b, s := c.set.Device, &c.stages[c.next]
	total := 0
	for _, p := range pieces {
		total += len(p.from)
	}
	err := device.InParallel(len(pieces), total/16, func(i int) error {
		p := &pieces[i]
		n := p.to + copy(s.Words[p.to:], p.from)
		clear(s.Words[n:min((n+plan.ListAlign-1)/plan.ListAlign*plan.ListAlign, len(s.Words))])
		return nil
	})
	if err != nil {
		return err
	}
	var event *ocl.Event
	for from := 0; from < len(writes); from += writesAtOnce {
		err := b.Do(func() error {
			if err := b.Fault("upload"); err != nil {
				return err
			}
			for _, w := range writes[from:min(from+writesAtOnce, len(writes))] {
				e, err := c.queue.EnqueueWriteBuffer(c.set.Arena.Buffers[w.buffer], false, int(4*w.to), 4*w.words, unsafe.Pointer(&s.Words[w.from]), nil)
				if err != nil {
					return err
				}
				if event != u.first {
					event.Release()
				}
				if event = e; b.Profiling && u.first == nil {
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
