package lists

import (
	"sync/atomic"
	"testing"
	"time"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/engine/plan"
	"heddle/engine/plan/listcache"
	"heddle/engine/plan/testneeds"
)

// TestStageWaits fills a staging buffer anew: it waits for the command that reads the buffer, and for the upload
// that ends with the buffer.
func TestStageWaits(t *testing.T) {
	testneeds.Device(t)
	platforms, err := ocl.GetPlatforms()
	if err != nil {
		t.Fatal(err)
	}
	var devices []*ocl.Device
	for _, p := range platforms {
		some, _ := p.GetDevices(ocl.DeviceTypeAll) // a platform may have none
		devices = append(devices, some...)
	}
	c, err := ocl.CreateContext(devices[:1])
	if err != nil {
		t.Fatal(err)
	}
	defer c.Release()
	for name, begin := range map[string]func() (s stage, end func()){
		"a command": func() (stage, func()) {
			e, err := c.CreateUserEvent()
			if err != nil {
				t.Fatal(err)
			}
			return stage{event: e}, func() { _ = e.SetUserEventStatus(0) }
		},
		"an upload": func() (stage, func()) {
			u := newUpload(nil)
			return stage{upload: u}, func() { close(u.done) }
		},
	} {
		s, end := begin()
		var ended atomic.Bool
		go func() {
			time.Sleep(20 * time.Millisecond)
			ended.Store(true)
			end()
		}()
		if err := s.clear(); err != nil {
			t.Fatal(err)
		}
		if !ended.Load() {
			t.Errorf("the buffer was free before %s had ended", name)
		}
		if s.event != nil || s.upload != nil {
			t.Errorf("after %s: %+v", name, s)
		}
	}
}

// TestStageOfUpload: the staging buffer of the last commands of an upload waits for the upload, and the next commands
// take the next buffer.
func TestStageOfUpload(t *testing.T) {
	c := &Cache{set: &Set{}, stages: make([]stage, 2)}
	for i := range 4 {
		u := newUpload(nil)
		if err := c.flush(u, nil, nil, true); err != nil {
			t.Fatal(err)
		}
		if c.stages[i%2].upload != u || c.next != (i+1)%2 {
			t.Errorf("upload %d: buffers of %v, the next one is %d", i, c.stages, c.next)
		}
	}
}

// TestRoomInTurn pins lists of a cache with room for one of two. While the caller of the one waits for
// room, no other caller pins the other one again.
func TestRoomInTurn(t *testing.T) {
	src := &plan.Source{Lists: []plan.List{{Words: 64, Len: 64}, {Words: 64, Len: 64}}}
	c := &Cache{set: &Set{Src: src, Places: make([]Place, 2)}, Items: listcache.New(ItemWords(src), 2, []uint64{64}), lists: 2,
		Coming: map[uint32]*upload{}, turn: make(chan struct{}, 1), freed: make(chan struct{}, 1)}
	pins := func(item uint32) *Pins {
		return &Pins{cache: c, uses: []listcache.Use{{Item: item, Queries: 1}}, refs: 1}
	}
	first := pins(0)
	if !c.pinAll(first, nil) {
		t.Fatal("no room in an empty cache")
	}
	delete(c.Coming, 0) // it has arrived
	again := pins(0)
	if !c.pinResident(again, nil) {
		t.Fatal("a resident list is not pinned")
	}
	again.Release()
	waiting := pins(1)
	if c.pinAll(waiting, nil) {
		t.Fatal("two lists in the room of one")
	}
	if c.pinResident(pins(0), nil) {
		t.Error("a list was pinned ahead of a caller that waits for room")
	}
	first.refs = 1
	first.Release()
	if !c.pinAll(waiting, nil) {
		t.Fatal("no room after a release")
	}
	delete(c.Coming, 1)
	if !c.pinResident(pins(1), nil) {
		t.Error("a resident list is not pinned after the caller got its room")
	}
}
