package placement

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/hostfallback"
)

// small is a device in pure Go with little memory.
type small struct {
	plan.Backend
	name        string
	holds, says uint64 // bytes of lists and frequencies; 0 in says means holds
	load        error
	caches      bool

	open atomic.Int64 // stores
}

type smallStore struct {
	plan.Store
	b   *small
	src *plan.Source
}

func (b *small) Info() plan.Info {
	return plan.Info{Kind: "small", Device: b.name, ComputeUnits: 2, Memory: cmp.Or(b.says, b.holds), Batch: 100, RankBatches: 3, Algorithms: b.Backend.Info().Algorithms}
}

func (b *small) full(words int) error {
	if 4*uint64(words) <= b.holds {
		return nil
	}
	return &plan.DeviceError{Kind: plan.ErrOutOfMemory, Device: b.name, Op: "loading"}
}

func (b *small) Load(ctx context.Context, src *plan.Source) (plan.Store, error) {
	if err := cmp.Or(b.load, b.full(len(src.Words))); err != nil {
		return nil, err
	}
	s, err := b.Backend.Load(ctx, src)
	if err != nil {
		return nil, err
	}
	b.open.Add(1)
	return &smallStore{s, b, src}, nil
}

func (s *smallStore) Rank(ctx context.Context, r *plan.RankBatch, out *plan.TopK) error {
	if err := s.b.full(len(s.src.Words) + len(s.src.Freqs)); err != nil {
		return err
	}
	return s.Store.Rank(ctx, r, out)
}

func (s *smallStore) Close() error {
	s.b.open.Add(-1)
	return s.Store.Close()
}

// caching is a small device with a list cache, which holds whatever it is given.
type caching struct{ *small }

type cachedStore struct {
	smallStore
	bytes uint64
}

func (b caching) LoadCached(ctx context.Context, src *plan.Source, bytes uint64) (plan.CachedStore, error) {
	s, err := b.Backend.Load(ctx, src)
	if err != nil {
		return nil, err
	}
	b.open.Add(1)
	return &cachedStore{smallStore{s, b.small, src}, bytes}, nil
}

func (s *cachedStore) Missing([]plan.Handle, bool) (uint64, bool) { return 0, true }
func (s *cachedStore) CacheStats() plan.CacheStats                { return plan.CacheStats{Capacity: s.bytes} }

// smalls makes devices a, b, ..., which hold so many percent of the words of src.
func smalls(src *plan.Source, percent ...uint64) (all []*small, devices []plan.Backend) {
	for i, p := range percent {
		b := &small{Backend: hostfallback.New(hostfallback.Options{Threads: 1}), name: string(rune('a' + i)), holds: 4 * uint64(len(src.Words)) * p / 100}
		all, devices = append(all, b), append(devices, b)
	}
	return all, devices
}

// where describes p: "a replicas, b+c shards, d cache".
func where(p Placed, devices []plan.Backend) string {
	var text []string
	for _, s := range p.Stores {
		var names []string
		for _, i := range s.Devices {
			names = append(names, devices[i].Info().Device)
		}
		text = append(text, strings.Join(names, "+")+" "+s.How.String())
	}
	for _, l := range p.Left {
		text = append(text, "not "+l.Device)
	}
	return strings.Join(text, ", ")
}

// placeable is a source of even lists, with frequencies of about the same size.
func placeable(t *testing.T) *plan.Source {
	t.Helper()
	src := &plan.Source{Docs: 4000, Lengths: slices.Repeat([]uint32{9}, 4000)}
	for i := range uint32(40) {
		var docs, freqs []uint32
		for d := i % 7; d < src.Docs; d += 2 + i%7 {
			docs, freqs = append(docs, d), append(freqs, (d*2654435761)>>4+1)
		}
		h, err := src.Append(codec.Raw, docs, codec.DefaultOptions())
		if err == nil {
			err = src.AppendFreqs(h, freqs, codec.DefaultOptions())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return src
}

// verifyPlaced asks every store the same and compares the answers with pure Go.
func verifyPlaced(t *testing.T, src *plan.Source, stores []Store) {
	t.Helper()
	whole, err := hostfallback.New(hostfallback.Options{}).Load(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	var b plan.MatchBatch
	for h := range plan.Handle(40) {
		b.Add(src, h, (h+11)%40)
	}
	var got, want plan.Results
	if err := whole.Match(t.Context(), &b, &want); err != nil {
		t.Fatal(err)
	}
	for _, s := range stores {
		if err := s.Match(t.Context(), &b, &got); err != nil || !slices.Equal(got.Docs, want.Docs) || !slices.Equal(got.Offsets, want.Offsets) {
			t.Errorf("%s: %d documents, want %d, %v", s.Info.Device, len(got.Docs), len(want.Docs), err)
		}
		if (s.Cached != nil) != (s.How == Cache) {
			t.Errorf("%s: %v, cached: %t", s.Info.Device, s.How, s.Cached != nil)
		}
	}
}

func TestPlace(t *testing.T) {
	src := placeable(t)
	lost := broken(plan.ErrDeviceLost, "b")
	for _, c := range []struct {
		name    string
		percent []uint64
		opt     Options
		change  func(all []*small)
		want    string
		reason  string
	}{
		{name: "all fit", percent: []uint64{100, 300}, want: "a replicas, b replicas", reason: "a replica of all lists on a, b (each of them holds all)"},
		{name: "alone", percent: []uint64{100}, want: "a replicas"},
		{name: "one fits", percent: []uint64{99, 300}, want: "b replicas, not a", reason: "none on 1 of 2 devices"},
		{name: "the other has a cache", percent: []uint64{99, 300}, change: func(all []*small) { all[0].caches = true }, want: "a cache, b replicas"},
		{name: "one is lost", percent: []uint64{100, 100}, change: func(all []*small) { all[1].load, all[1].caches = lost, true }, want: "a replicas, not b"},
		{name: "together", percent: []uint64{60, 60}, want: "a+b shards", reason: "shards by documents on a, b (no device holds all, together they do)"},
		{name: "three together", percent: []uint64{40, 40, 40}, want: "a+b+c shards"},
		{name: "alike", percent: []uint64{40, 40, 40}, change: func(all []*small) { all[1].name = "c" }, want: "a+c+c shards", reason: "on a, 2 x c ("},
		{name: "one too small for a share", percent: []uint64{5, 60, 60}, want: "b+c shards, not a"},
		{name: "one that lies", percent: []uint64{60, 10, 60}, change: func(all []*small) { all[1].says, all[1].caches = 1<<40, true }, want: "a+c shards, b cache"},
		{name: "all lie", percent: []uint64{10, 10, 10}, change: func(all []*small) {
			for _, b := range all {
				b.says, b.caches = 1<<40, b.name != "b"
			}
		}, want: "a cache, c cache, not b", reason: "a list cache on a, c (not all fit), none on 1 of 3 devices"},
		{name: "lost while the rest is cut", percent: []uint64{60, 99, 60}, change: func(all []*small) { all[1].load = lost }, want: "a+c shards, not b"},
		{name: "not even together", percent: []uint64{30, 30}, change: func(all []*small) { all[0].caches, all[1].caches = true, true }, want: "a cache, b cache"},
		{name: "nothing helps", percent: []uint64{30, 30}, want: "not a, not b", reason: "none on 2 of 2 devices"},
		{name: "none", want: "", reason: "no device"},
		{name: "replicas as asked", percent: []uint64{60, 100, 60}, opt: Options{How: Replicas}, change: func(all []*small) { all[0].caches = true },
			want: "b replicas, not a, not c", reason: "on b (as asked for)"},
		{name: "shards as asked", percent: []uint64{100, 200}, opt: Options{How: Shards}, want: "a+b shards"},
		{name: "one shard", percent: []uint64{100}, opt: Options{How: Shards}, want: "a shards"},
		{name: "caches as asked", percent: []uint64{100, 200, 10}, opt: Options{How: Cache}, change: func(all []*small) { all[0].caches, all[2].caches = true, true },
			want: "a cache, c cache, not b"},
		{name: "frequencies fit not", percent: []uint64{150, 250}, opt: Options{Ranked: true}, want: "b replicas, not a"},
		{name: "nor alone", percent: []uint64{150, 150}, opt: Options{Ranked: true}, want: "a+b shards"},
		{name: "a limit", percent: []uint64{60, 60}, opt: Options{Memory: 1000}, change: func(all []*small) { all[0].caches = true }, want: "a cache, not b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			all, devices := smalls(src, c.percent...)
			if c.change != nil {
				c.change(all)
			}
			for i, b := range all {
				if b.caches {
					devices[i] = caching{b}
				}
			}
			p, err := Place(t.Context(), src, devices, c.opt)
			if err != nil {
				t.Fatal(err)
			}
			if got := where(p, devices); got != c.want || !strings.Contains(p.Reason, c.reason) {
				t.Errorf("%q, want %q; %q, want %q", got, c.want, p.Reason, c.reason)
			}
			verifyPlaced(t, src, p.Stores)
			for _, l := range p.Left {
				kind := plan.ErrOutOfMemory
				if b := all[l.Device[0]-'a']; b.load != nil {
					kind = plan.ErrDeviceLost
				} else if c.opt.How == Cache {
					kind = plan.ErrNoDevice
				}
				if !errors.Is(l.Err, kind) {
					t.Errorf("%s is left out for %v", l.Device, l.Err)
				}
			}
			for _, s := range p.Stores {
				if s.How == Cache && s.Cached.CacheStats().Capacity != c.opt.Memory {
					t.Errorf("a cache of %d bytes", s.Cached.CacheStats().Capacity)
				}
				if n := len(s.Devices); s.Info.ComputeUnits != 2*n || s.Info.Batch != 100*uint64(n) || s.Info.RankBatches != 3 || len(s.Info.Algorithms) == 0 {
					t.Errorf("%d devices are %+v", n, s.Info)
				}
			}
			if err := p.close(); err != nil {
				t.Error(err)
			}
			for _, b := range all {
				if n := b.open.Load(); n != 0 {
					t.Errorf("%s: %d stores are still open", b.name, n)
				}
			}
		})
	}
}

func TestPlaceErrors(t *testing.T) {
	src := placeable(t)
	all, devices := smalls(src, 100, 100)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if p, err := Place(ctx, src, devices, Options{}); !errors.Is(err, context.Canceled) || p.Stores != nil {
		t.Errorf("under a cancelled context: %+v, %v", p, err)
	}
	bad := *src
	bad.Words = bad.Words[:100]
	if p, err := Place(t.Context(), &bad, devices, Options{}); err == nil {
		t.Errorf("a source of half its words: %+v", p)
	}
	// Lists that cannot be cut are no fault of the devices, and say so.
	bad = *src
	bad.Words = slices.Clone(src.Words)
	bad.Words[bad.Lists[3].Off] = 1 << 30
	p, err := Place(t.Context(), &bad, devices, Options{How: Shards})
	if err != nil || len(p.Left) != 2 || !errors.Is(p.Left[1].Err, codec.ErrCorrupt) || !strings.Contains(p.Left[1].Err.Error(), "list 3") {
		t.Errorf("shards of a damaged list: %+v, %v", p, err)
	}
	for _, b := range all {
		if n := b.open.Load(); n != 0 {
			t.Errorf("%s: %d stores are still open", b.name, n)
		}
	}
}

func TestParsePlacement(t *testing.T) {
	for p := Auto; p <= Cache; p++ {
		if got, err := Parse(strings.ToUpper(p.String())); got != p || err != nil {
			t.Errorf("%v: %v, %v", p, got, err)
		}
	}
	if p, err := Parse(""); p != Auto || err != nil {
		t.Errorf("nothing: %v, %v", p, err)
	}
	if _, err := Parse("mirror"); err == nil || !strings.Contains(err.Error(), `"mirror"`) || !strings.Contains(err.Error(), Shards.String()) {
		t.Errorf("an unknown one: %v", err)
	}
}

// broken is an error as a device gives it.
func broken(kind error, device string) error {
	return &plan.DeviceError{Kind: kind, Device: device, Op: "testing", Err: errors.New("a fault was asked for")}
}
