package store

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"heddle/engine/internal/layout"
	"heddle/engine/plan/testneeds"
)

// talk is a conversation with servers, each of which answers in its own way, or not at all.
type talk struct {
	*Memory
	servers []func(asked int) *Served
	mu      sync.Mutex
	asked   int
	answers chan Served
	closed  bool
}

func (k *talk) Servers() (Servers, error) { k.answers = make(chan Served, 1000); return k, nil }

func (k *talk) Ask(context.Context, string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asked++
	if k.servers == nil {
		k.answers <- Served{}
	}
	for _, s := range k.servers {
		if a := s(k.asked); a != nil {
			k.answers <- *a
		}
	}
	return nil
}

func (k *talk) Next(ctx context.Context) (Served, error) {
	select {
	case s := <-k.answers:
		if s.ID == "" {
			return s, ErrNoServer
		}
		return s, nil
	case <-ctx.Done():
		return Served{}, ctx.Err()
	}
}

func (k *talk) Close() { k.closed = true }

// TestConfirm: a change waits for all servers that have answered, and for no others. It names the late ones.
func TestConfirm(t *testing.T) {
	ready := func(asked int) *Served { return &Served{ID: "a", Server: "A", Revision: uint64(4 + asked)} } // 6 at the second question
	second := func(asked int) *Served {                                                                    // is busy at first
		if asked < 2 {
			return nil
		}
		return &Served{ID: "b", Server: "B", Revision: uint64(asked)}
	}
	broken := func(int) *Served { return &Served{ID: "c", Server: "C", Revision: 5, Error: "no leader"} }
	stale := func(asked int) *Served { // its answers overtake each other
		if asked > 1 {
			return &Served{ID: "e", Server: "E", Revision: 1}
		}
		return &Served{ID: "e", Server: "E", Revision: 6}
	}
	stopped := func(asked int) *Served {
		if asked > 1 {
			return nil
		}
		return &Served{ID: "d", Server: "D", Revision: 1}
	}
	for _, c := range []struct {
		servers []func(int) *Served
		after   time.Duration // time from the change on
		want    string
		took    time.Duration
	}{
		{nil, 0, "", 0},
		{[]func(int) *Served{ready}, 2 * time.Second, "", 0},
		{[]func(int) *Served{ready}, 0, "", round}, // others may answer
		{[]func(int) *Served{ready, broken}, 0, "C no leader", rounds * round},
		{[]func(int) *Served{stopped, ready}, 0, "D does not answer", rounds * round},
		{[]func(int) *Served{ready, second}, 0, "", 4 * round}, // its answer to the sixth question
		{[]func(int) *Served{stale, ready}, 2 * time.Second, "", 0},
	} {
		testneeds.Bubble(t, func(t *testing.T) {
			k := &talk{Memory: new(Memory), servers: c.servers}
			s, err := (Operator{KV: k}).confirmation(t.Context(), "books")
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(c.after)
			began := time.Now()
			err = s.wait(t.Context(), 6)
			late, is := errors.AsType[*LateError](err)
			if c.want == "" && err != nil || c.want != "" && (!is || len(late.Late) != 1 || !strings.HasSuffix(err.Error(), c.want)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if took := time.Since(began); took != c.took {
				t.Errorf("%q: it took %v, want %v", c.want, took, c.took)
			}
			if s.close(); !k.closed {
				t.Error("the conversation is open")
			}
		})
	}
}

// state puts a state of a collection.
func (m *Memory) state(t *testing.T, s *State) uint64 {
	t.Helper()
	_, revision, err := get(t.Context(), m, "books")
	if err == nil {
		revision, err = put(t.Context(), m, "books", s, revision)
	}
	if err != nil {
		t.Fatal(err)
	}
	return revision
}

// TestMaps: Follow reads changes, also a removal, and Served says which change. A slow read of an older state
// does not take a newer one back.
func TestMaps(t *testing.T) {
	m := func(epoch uint64) *layout.Map {
		return &layout.Map{Name: "books", Kind: layout.Index, Epoch: epoch, Docs: 1, Shards: []layout.Shard{{File: "x", Docs: 1, Bytes: 1, SHA256: strings.Repeat("0", 64), Replicas: []string{"a"}}}}
	}
	testneeds.Bubble(t, func(t *testing.T) {
		kv := &slow{Memory: new(Memory)}
		maps := &Maps{KV: kv}
		follow, end := context.WithCancel(t.Context())
		go maps.Follow(follow, time.Second)
		defer synctest.Wait()
		defer end()
		want := func(epoch uint64) {
			t.Helper()
			got, err := maps.Map(t.Context(), "books")
			if epoch == 0 && err == nil || epoch > 0 && (err != nil || got.Epoch != epoch) {
				t.Errorf("%+v, %v, want epoch %d", got, err, epoch)
			}
		}
		want(0)
		kv.state(t, &State{Epoch: 1, Current: m(1)})
		want(1)
		revision := kv.state(t, &State{Epoch: 2, Current: m(2)})
		want(1)
		time.Sleep(time.Second + 1)
		want(2)
		if got := maps.Served(t.Context(), "books"); got.Epoch != 2 || got.Revision != revision || got.Error != "" {
			t.Errorf("%+v, want revision %d", got, revision)
		}
		synctest.Wait()
		kv.change(func() { kv.delay = time.Minute })
		stale := make(chan error)
		go func() { _, err := maps.Refresh(t.Context(), "books"); stale <- err }()
		synctest.Wait()
		kv.change(func() { kv.delay = 0 })
		kv.state(t, &State{Epoch: 2})
		if got := maps.Served(t.Context(), "books"); got.Epoch != 0 || got.Revision != revision+1 {
			t.Errorf("after the removal: %+v", got)
		}
		want(0)
		if err := <-stale; err == nil {
			t.Error("an old read brings a removed collection back")
		}
		want(0)
		kv.state(t, &State{Epoch: 3, Current: m(3)})
		time.Sleep(time.Second + 1)
		want(3)
		synctest.Wait()
		kv.change(func() { kv.Memory = new(Memory) }) // the store has lost its data, and counts anew
		time.Sleep(2 * time.Second)
		want(3)
		kv.state(t, &State{Epoch: 4, Current: m(4)})
		time.Sleep(time.Second + 1)
		want(4)
		synctest.Wait()
		kv.change(func() { kv.down = errors.New("away") })
		if got := maps.Served(t.Context(), "books"); !strings.Contains(got.Error, "away") {
			t.Errorf("without a store: %+v", got)
		}
		time.Sleep(2 * time.Second)
		want(4)
	})
}

// slow is a store that answers late, or not.
type slow struct {
	*Memory
	delay time.Duration
	down  error
	mu    sync.Mutex // the race detector does not know the order that virtual time gives
}

// change changes the store.
func (s *slow) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func (s *slow) now() (m *Memory, delay time.Duration, down error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Memory, s.delay, s.down
}

func (s *slow) Get(ctx context.Context, key string) ([]byte, uint64, error) {
	m, delay, down := s.now()
	if down != nil {
		return nil, 0, down
	}
	v, revision, err := m.Get(ctx, key)
	time.Sleep(delay)
	return v, revision, err
}

func (s *slow) Revision(ctx context.Context) (uint64, error) {
	m, _, _ := s.now()
	return m.Revision(ctx)
}
