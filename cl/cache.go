package cl

import (
	"context"
	"sync"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/engine/plan"
	"heddle/engine/plan/listcache"
)

// listCache is which lists of a store are resident where, and what brings them in. Item h
// of it is list h; behind the lists come their frequencies, where there are some.
//
// Batches cannot wait for each other in a circle: a part of a batch takes all its pins at
// once, and then waits for nobody's pins. Who finds no room waits for pins to come back
// while it holds the turn, so that one at a time does, in order, and no list is brought
// in, or pinned ahead of it, meanwhile.
type listCache struct {
	store *Store
	items *listcache.Cache // guarded by mu, but for what may be asked at any time
	lists uint32

	mu      sync.Mutex
	waiting bool // who has the turn finds no room
	coming  map[uint32]*upload
	freqs   []place // of frequencies; those of lists are Store.places

	turn  chan struct{} // holds a token; who takes it may bring lists in
	freed chan struct{} // capacity 1: pins have come back

	// Of who has the turn.
	queue  *ocl.CommandQueue // in order
	stages []listStage
	next   int // of stages

	arriving sync.WaitGroup // goroutines of arrive
	cutters  sync.Pool      // *partCutter
}

// pins is the lists of some queries of a batch, pinned. nil stands for those of a store
// in which all lists are resident.
type pins struct {
	cache   *listCache
	uses    []listcache.Use
	uploads []*upload // on their way when they were pinned
	own     *upload   // of those, what was missing
	after   []*ocl.Event
	refs    int // guarded by cache.mu
}

// open makes what lists go through on their way, pinned memory of so many bytes at a
// time. After a failure release must follow.
func (c *listCache) open(bytes uint64) (err error) {
	b := c.store.backend
	if c.queue, err = b.newQueue(); err != nil {
		return err
	}
	for range stageCount {
		p, err := b.newPinned(int(bytes))
		if err != nil {
			return err
		}
		c.stages = append(c.stages, listStage{pinned: p})
	}
	return nil
}

// events are what a round over the lists waits for.
func (p *pins) events() []*ocl.Event {
	if p == nil {
		return nil
	}
	return p.after
}

// hold keeps the pins until one more release.
func (p *pins) hold() {
	if p != nil {
		p.cache.mu.Lock()
		p.refs++
		p.cache.mu.Unlock()
	}
}

// release takes the pins back with the last call.
func (p *pins) release() {
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
	c.items.Unpin(p.uses)
	select {
	case c.freed <- struct{}{}:
	default:
	}
}

// arrived waits until all lists have come, and says if one has not.
func (p *pins) arrived() error {
	for _, u := range p.uploads {
		<-u.done
		if u.err != nil {
			return u.err
		}
	}
	return nil
}

// pin makes a part of uses, which must fit: what is missing is on its way when it returns.
// Term records of t, which may be nil, get the places of the lists. The caller releases
// the part.
func (c *listCache) pin(ctx context.Context, t *tables, uses []listcache.Use) (*pins, error) {
	p := &pins{cache: c, uses: uses, refs: 1}
	if c.pinResident(p, t) {
		return p, p.sent(ctx)
	}
	select {
	case <-c.turn:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.store.closing:
		return nil, plan.ErrClosed
	}
	defer func() { c.turn <- struct{}{} }()
	for !c.pinAll(p, t) {
		var err error
		select {
		case <-c.freed:
			continue
		case <-ctx.Done():
			err = ctx.Err()
		case <-c.store.closing:
			err = plan.ErrClosed
		}
		c.mu.Lock()
		c.waiting = false
		c.mu.Unlock()
		return nil, err
	}
	if p.own != nil {
		c.send(p)
	}
	return p, p.sent(ctx)
}

// pinResident pins what is resident already, unless somebody waits for room.
func (c *listCache) pinResident(p *pins, t *tables) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting {
		return false
	}
	for _, u := range p.uses {
		if !c.items.Resident(u.Item) {
			return false
		}
	}
	if _, ok := c.items.Pin(p.uses, nil); !ok {
		return false
	}
	c.place(p, t)
	return true
}

// pinAll pins everything, if there is room, and makes the upload of what is missing.
func (c *listCache) pinAll(p *pins, t *tables) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	fresh, ok := c.items.Pin(p.uses, nil)
	c.waiting = !ok
	if !ok {
		return false
	}
	if len(fresh) > 0 {
		p.own = newUpload(fresh)
		p.refs++ // until it has arrived
		for _, item := range fresh {
			c.coming[item] = p.own
		}
	}
	c.place(p, t)
	return true
}

// place notes where the items of a part lie, for those who have pinned them: where it is
// another place than before, that is nobody else. It notes what is still on its way.
func (c *listCache) place(p *pins, t *tables) {
	for _, use := range p.uses {
		buffer, off := c.items.Place(use.Item)
		at := place{buffer: buffer, off: off}
		if use.Item >= c.lists {
			if f := &c.freqs[use.Item-c.lists]; *f != at {
				*f = at
			}
		} else {
			if l := &c.store.places[use.Item]; *l != at {
				*l = at
			}
			if t != nil {
				t.records[use.Item].move(at)
			}
		}
	}
	if len(c.coming) == 0 {
		return
	}
	for _, use := range p.uses {
		if u := c.coming[use.Item]; u != nil && u.last != p {
			u.last = p
			u.refs++
			p.uploads = append(p.uploads, u)
		}
	}
}

// sent waits until all uploads of the part are enqueued, and takes their events. After an
// error the part is released.
func (p *pins) sent(ctx context.Context) error {
	for _, u := range p.uploads {
		select {
		case <-u.sent:
		case <-ctx.Done():
			p.release()
			return ctx.Err()
		}
		if u.event == nil { // it failed
			<-u.done
			p.release()
			return u.err
		}
		p.after = append(p.after, u.event)
	}
	return nil
}

// land waits for what is on its way, and frees all but the arena. Nobody gets the turn
// any more.
func (c *listCache) land() {
	<-c.turn
	c.arriving.Wait()
	c.release()
}

func (c *listCache) release() {
	b := c.store.backend
	for i := range c.stages {
		c.stages[i].release(b)
	}
	if c.queue != nil {
		c.queue.Release()
	}
}
