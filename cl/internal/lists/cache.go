package lists

import (
	"context"
	"sync"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/engine/plan"
	"heddle/engine/plan/listcache"
)

// Cache decides which lists of a set are resident, and brings missing ones in. Item h
// is list h. The frequencies of the lists follow, if there are any.
//
// Batches cannot wait for each other in a circle. A part of a batch takes all its pins at
// once and then waits for no other pins. A caller without room waits for pins while it
// holds the turn. So one caller at a time waits, in order, and meanwhile no other caller
// brings lists in or pins lists ahead of it.
type Cache struct {
	set   *Set
	Items *listcache.Cache // guarded by mu, except for methods that may be called at any time
	lists uint32

	mu      sync.Mutex
	waiting bool // the holder of the turn finds no room
	Coming  map[uint32]*upload
	Freqs   []Place // places of frequencies; Set.Places has the places of lists

	turn  chan struct{} // holds a token; its receiver may bring lists in
	freed chan struct{} // capacity 1: pins have come back

	// The holder of the turn uses the fields below.
	queue  *ocl.CommandQueue // in order
	stages []stage
	next   int // index of the stage to fill next

	arriving sync.WaitGroup // goroutines of arrive
	cutters  sync.Pool      // *partCutter
}

// Pins keeps the lists of some queries of a batch resident. nil stands for a set in which
// all lists are resident.
type Pins struct {
	cache   *Cache
	uses    []listcache.Use
	uploads []*upload // under way when the lists were pinned
	own     *upload   // the one of them with the lists that this part missed
	after   []*ocl.Event
	refs    int // guarded by cache.mu
}

// LoadCached makes the buffers of a cache and its stages. buffers are the sizes for lists
// in bytes. After a failure release must follow.
func (s *Set) LoadCached(ctx context.Context, buffers []uint64) error {
	var room []uint64 // words
	for _, n := range buffers {
		room = append(room, n/4-plan.ListAlign)
	}
	n := len(s.Src.Lists)
	s.Places = make([]Place, n)
	items := ItemWords(s.Src)
	c := &Cache{set: s, Items: listcache.New(items, n, room), lists: uint32(n), Coming: map[uint32]*upload{},
		Freqs: make([]Place, len(items)-n), turn: make(chan struct{}, 1), freed: make(chan struct{}, 1)}
	c.turn <- struct{}{}
	c.cutters.New = func() any { return &partCutter{cache: c, seen: make([]uint32, len(items))} }
	s.Cache = c
	err := c.open(ctx, min(stageBytes, s.Memory.Size()))
	if err == nil {
		s.Arena, err = newArena(ctx, s.Device, s.Memory, buffers)
	}
	if err != nil {
		device.Free(ctx, s.Device, c.Release)
	}
	return err
}

// open makes the queue and the stages, each with pinned memory of the given size in bytes.
// After a failure release must follow.
func (c *Cache) open(ctx context.Context, bytes uint64) (err error) {
	rt := c.set.Device
	if c.queue, err = rt.NewQueue(); err != nil {
		return err
	}
	for range stageCount {
		p, err := rt.Staging(ctx, int(bytes))
		if err != nil {
			return err
		}
		c.stages = append(c.stages, stage{Pinned: p})
	}
	return nil
}

// Events returns the events that a round over the lists waits for.
func (p *Pins) Events() []*ocl.Event {
	if p == nil {
		return nil
	}
	return p.after
}

// Hold keeps the pins until one more call of release.
func (p *Pins) Hold() {
	if p != nil {
		p.cache.mu.Lock()
		p.refs++
		p.cache.mu.Unlock()
	}
}

// Release takes the pins back with the last call.
func (p *Pins) Release() {
	if p == nil {
		return
	}
	c := p.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.refs--; p.refs > 0 {
		return
	}
	for _, u := range p.uploads {
		u.unref()
	}
	c.Items.Unpin(p.uses)
	select {
	case c.freed <- struct{}{}:
	default:
	}
}

// Finish gives the slot of a batch back and returns err, the result of the batch. After a
// failure commands may be under way: it does not wait, and the lists stay pinned until
// their end.
func (p *Pins) Finish(err error, giveBack func()) error {
	if err == nil {
		giveBack()
		return nil
	}
	p.Hold()
	go func() {
		giveBack()
		p.Release()
	}()
	return err
}

// arrived waits until all lists are resident, and returns the error of a failed upload.
func (p *Pins) arrived() error {
	for _, u := range p.uploads {
		<-u.done
		if u.err != nil {
			return u.err
		}
	}
	return nil
}

// pin pins uses, which must fit the cache. Missing lists are under way when it returns. The
// term records of t, which may be nil, get the places of the lists. The caller releases the
// pins.
func (c *Cache) pin(ctx context.Context, t *Tables, uses []listcache.Use) (*Pins, error) {
	p := &Pins{cache: c, uses: uses, refs: 1}
	if c.pinResident(p, t) {
		return p, p.sent(ctx)
	}
	select {
	case <-c.turn:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.set.Closing:
		return nil, plan.ErrClosed
	}
	end := func() { c.turn <- struct{}{} }
	for !c.pinAll(p, t) {
		var err error
		select {
		case <-c.freed:
			continue
		case <-ctx.Done():
			err = ctx.Err()
		case <-c.set.Closing:
			err = plan.ErrClosed
		}
		c.mu.Lock()
		c.waiting = false
		c.mu.Unlock()
		end()
		return nil, err
	}
	if p.own == nil {
		end()
	} else {
		go func() { // which may wait for the device
			defer end()
			c.send(p)
		}()
	}
	return p, p.sent(ctx)
}

// pinResident pins lists that are all resident already, unless a caller waits for room.
func (c *Cache) pinResident(p *Pins, t *Tables) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting {
		return false
	}
	for _, u := range p.uses {
		if !c.Items.Resident(u.Item) {
			return false
		}
	}
	if _, ok := c.Items.Pin(p.uses, nil); !ok {
		return false
	}
	c.place(p, t)
	return true
}

// pinAll pins all lists if there is room, and makes the upload of the missing ones.
func (c *Cache) pinAll(p *Pins, t *Tables) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	fresh, ok := c.Items.Pin(p.uses, nil)
	c.waiting = !ok
	if !ok {
		return false
	}
	if len(fresh) > 0 {
		p.own = newUpload(fresh)
		p.refs++ // until it has arrived
		for _, item := range fresh {
			c.Coming[item] = p.own
		}
	}
	c.place(p, t)
	return true
}

// place notes the places of pinned items. A place changes only if no other part has the
// item pinned. It also notes the uploads under way.
func (c *Cache) place(p *Pins, t *Tables) {
	for _, use := range p.uses {
		buffer, off := c.Items.Place(use.Item)
		at := Place{Buffer: buffer, Off: off}
		if use.Item >= c.lists {
			if f := &c.Freqs[use.Item-c.lists]; *f != at {
				*f = at
			}
		} else {
			if l := &c.set.Places[use.Item]; *l != at {
				*l = at
			}
			if t != nil {
				t.Records[use.Item].move(at)
			}
		}
	}
	if len(c.Coming) == 0 {
		return
	}
	for _, use := range p.uses {
		if u := c.Coming[use.Item]; u != nil && u.last != p {
			u.last = p
			u.refs++
			p.uploads = append(p.uploads, u)
		}
	}
}

// sent waits until all uploads are enqueued, and takes their events. After an error the
// pins are released.
func (p *Pins) sent(ctx context.Context) error {
	for _, u := range p.uploads {
		select {
		case <-u.sent:
		case <-ctx.Done():
			p.Release()
			return ctx.Err()
		}
		if u.event == nil { // it failed
			<-u.done
			p.Release()
			return u.err
		}
		p.after = append(p.after, u.event)
	}
	return nil
}

// land waits for uploads under way and frees all but the arena. The turn stays taken.
func (c *Cache) land() {
	<-c.turn
	c.arriving.Wait()
	c.Release()
}

func (c *Cache) Release() {
	for i := range c.stages {
		c.stages[i].release(c.set.Device)
	}
	if c.queue != nil {
		c.queue.Release()
	}
}
