package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"heddle/engine"
	"heddle/engine/cluster/fetch"
	"heddle/engine/file/container"
	"heddle/engine/internal/layout"
)

// Loader opens the shards of a node. Epochs that share a file have the same path. The path of the
// attribute table is empty for a shard without one.
type Loader interface {
	Load(ctx context.Context, name string, epoch uint64, shard int, path, attributes string) error
	Unload(name string, epoch uint64)
	// Drop closes one shard. A shard that is not open is no error.
	Drop(name string, epoch uint64, shard int)
}

// Keeper brings a node to the state that the maps describe. Step does the work; Run repeats it.
type Keeper struct {
	KV     KV
	Node   string
	Dir    string // files and the last maps
	URL    string // base URL of the node; other nodes fetch files below URL/files
	Loader Loader
	// Fetch copies files from sources of a publish, Peers from other nodes.
	Fetch, Peers fetch.Client
	// Deadline is the time for which an epoch outlives its map: the longest deadline of a query.
	Deadline time.Duration
	// Poll is the time between two looks at the maps; 0 is one second.
	Poll time.Duration
	// Verify is the time between two checks of all files against their checksums; 0 is never.
	Verify time.Duration
	// Damaged receives a file that is damaged, and again when it is healed. It may be nil.
	Damaged func(Damage)
	// Log receives the error of a step if it differs from the error before, and nil after an error. The
	// next step tries again. Log may be nil.
	Log func(error)
	now func() time.Time // tests set it
	// disk has the last maps and the identity. Tests set it; nil is container.OSDisk.
	disk container.Disk

	loaded map[Part]string // checksum of each loaded part
	// attributes are the checksums of the attribute tables of loaded shards.
	attributes map[Part]string
	failed     map[Part]Failure
	retired    map[collection]time.Time
	last       map[string]*State // states on the disk, by name; nil: unknown
	pulse      pulse
	health     health
	told       []byte                // the last report
	unready    atomic.Pointer[error] // nil before the first step

	cluster atomic.Pointer[string] // identity of the cluster; nil if it is unknown
	wroteID bool                   // the folder has it
	belongs bool                   // the store has had it
}

// collection is an epoch of a collection.
type collection struct {
	name  string
	epoch uint64
}

// Run repeats Step until the context ends. wake, which may be nil, starts a step at once. If a
// node has only seen stores of another cluster, Run ends with a *ForeignError.
func (k *Keeper) Run(ctx context.Context, wake <-chan struct{}) error {
	defer k.health.checks.Wait()
	ctx, end := context.WithCancel(ctx)
	defer end()
	tick := time.NewTicker(cmp.Or(k.Poll, time.Second))
	defer tick.Stop()
	said := fmt.Sprint(error(nil))
	for {
		err := k.Step(ctx)
		if foreign, is := errors.AsType[*ForeignError](err); is && !k.belongs {
			return foreign
		}
		if text := fmt.Sprint(err); text != said && ctx.Err() == nil && k.Log != nil {
			said = text
			k.Log(err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		case <-wake:
		}
	}
}

// Step reads the maps and does the work that they ask of the node. Without the store, the node opens
// the shards of its last maps, and keeps all that it has.
func (k *Keeper) Step(ctx context.Context) error {
	if k.loaded == nil {
		k.loaded, k.attributes, k.failed, k.retired = map[Part]string{}, map[Part]string{}, map[Part]Failure{}, map[collection]time.Time{}
		if k.now == nil {
			k.now = time.Now
		}
	}
	fileErr := k.inspect(ctx)
	var diskErr error
	if k.last == nil {
		k.last, diskErr = k.readLast() // the error matters only if the store, which has the same maps, is away
	}
	states, err := readAll(ctx, k.KV)
	if err == nil {
		err = k.Belong(ctx)
	}
	if err != nil {
		return errors.Join(err, diskErr, fileErr, k.loadAll(ctx, k.last))
	}
	if err := k.mend(ctx, states); err != nil {
		return errors.Join(err, fileErr)
	}
	err = errors.Join(fileErr, k.writeLast(states), k.loadAll(ctx, states)) // also with a full disk
	k.unload(states)
	err = errors.Join(err, k.clean(states), k.tell(ctx))
	for name, s := range states {
		if s.Intent != nil {
			err = errors.Join(err, advance(ctx, k.KV, name, &k.pulse, k.now()))
		}
	}
	return err
}

// readAll returns the states of all collections.
func readAll(ctx context.Context, kv KV) (map[string]*State, error) {
	names, err := list(ctx, kv, mapKey)
	states := make(map[string]*State, len(names))
	for _, name := range names {
		s, _, getErr := get(ctx, kv, name)
		if getErr != nil {
			return nil, getErr
		}
		states[name] = s
	}
	return states, err
}

// path is the place of a file with a checksum.
func (k *Keeper) path(kind layout.Kind, sum string) string {
	ext := ".hdl"
	if kind == layout.Table {
		ext = ".hdb"
	}
	return filepath.Join(k.Dir, "files", sum+ext)
}

// Find returns the path of a complete file, or "". fetch.Handler calls it.
func (k *Keeper) Find(sum string) string {
	for _, ext := range []string{".hdl", ".hdb"} {
		p := filepath.Join(k.Dir, "files", sum+ext)
		if _, err := os.Stat(p); err == nil && filepath.Base(sum) == sum && len(sum) == 64 {
			return p
		}
	}
	return ""
}

// loadAll fetches and opens the shards that the node must have.
func (k *Keeper) loadAll(ctx context.Context, states map[string]*State) error {
	k.judge(states)
	defer k.judge(states)
	if err := os.MkdirAll(filepath.Join(k.Dir, "files"), 0o755); err != nil {
		return err
	}
	var failed []error
	for _, name := range slices.Sorted(maps.Keys(states)) {
		s := states[name]
		for _, m := range s.maps() {
			sources := s.Sources
			if m != s.Current { // a file of the same name may differ
				sources = s.Intent.Sources
			}
			k.replace(m)
			for n, shard := range m.Shards {
				part := Part{name, m.Epoch, n}
				if _, ok := k.loaded[part]; ok || k.failed[part].Final || !slices.Contains(shard.Replicas, k.Node) {
					continue
				}
				if err := k.load(ctx, part, m, shard, sources); err != nil {
					if ctx.Err() != nil {
						return err
					}
					k.room(err)
					final := m != s.Current && lasting(err)
					k.failed[part] = Failure{part, err.Error(), engine.CodeOf(err), final}
					failed = append(failed, err)
					continue
				}
				delete(k.failed, part)
				k.loaded[part] = shard.SHA256
				if shard.Attributes != nil {
					k.attributes[part] = shard.Attributes.SHA256
				}
			}
		}
	}
	return errors.Join(failed...)
}

// replace closes an epoch if its map does not give the node one of the epoch's open shards. This
// happens if a store that has lost its data gives the number of an abandoned change to another change.
func (k *Keeper) replace(m *layout.Map) {
	for p, sum := range k.loaded {
		if p.Name != m.Name || p.Epoch != m.Epoch {
			continue
		}
		open := []string{sum}
		if a := k.attributes[p]; a != "" {
			open = append(open, a)
		}
		same := func(f layout.File, sum string) bool { return f.SHA256 == sum }
		if p.Shard >= len(m.Shards) || !slices.EqualFunc(m.Shards[p.Shard].Files(), open, same) || !slices.Contains(m.Shards[p.Shard].Replicas, k.Node) {
			k.close(collection{m.Name, m.Epoch})
			return
		}
	}
}

// close closes the shards of an epoch.
func (k *Keeper) close(c collection) {
	k.Loader.Unload(c.name, c.epoch)
	delete(k.retired, c)
	of := func(p Part, _ string) bool { return p.Name == c.name && p.Epoch == c.epoch }
	maps.DeleteFunc(k.loaded, of)
	maps.DeleteFunc(k.attributes, of)
}

// loadError is a refusal by the Loader.
type loadError struct{ error }

func (e loadError) Unwrap() error { return e.error }

// lasting says that another attempt would fail the same way.
func lasting(err error) bool {
	_, load := errors.AsType[loadError](err)
	_, sum := errors.AsType[*fetch.ChecksumError](err)
	_, full := errors.AsType[*fetch.DiskFullError](err)
	return load || sum || full
}

func (k *Keeper) load(ctx context.Context, part Part, m *layout.Map, s layout.Shard, sources []string) error {
	paths := []string{k.path(m.Kind, s.SHA256), ""} // files of the shard and of its attributes
	if s.Attributes != nil {
		paths[1] = k.path(layout.Table, s.Attributes.SHA256)
	}
	for again := true; ; again = false {
		for i, f := range s.Files() {
			if err := k.hold(ctx, f, paths[i], sources); err != nil {
				return err
			}
		}
		wrong := k.Loader.Load(ctx, part.Name, part.Epoch, part.Shard, paths[0], paths[1])
		if wrong == nil {
			for i := range s.Files() {
				k.healed(paths[i])
			}
			return nil
		}
		spoiled := false
		for i := range s.Files() {
			is, err := k.spoiled(ctx, paths[i])
			if err != nil {
				return errors.Join(loadError{wrong}, err)
			}
			spoiled = spoiled || is
		}
		if !spoiled || !again {
			return loadError{wrong}
		}
	}
}

// hold copies a file, unless the node has it. A file of another size moves aside.
func (k *Keeper) hold(ctx context.Context, f layout.File, path string, sources []string) error {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		if uint64(info.Size()) == f.Bytes {
			return nil
		}
		if err := k.putAside(path, fmt.Errorf("it has %d bytes, not %d", info.Size(), f.Bytes)); err != nil {
			return err
		}
	}
	// Nodes that hold the file come first: they spare the source.
	all, err := Reports(ctx, k.KV)
	if err != nil {
		return err
	}
	var peers []string
	for node, r := range all {
		if node != k.Node && r.URL != "" && slices.Contains(r.Held, f.SHA256) {
			peers = append(peers, r.URL+"/files")
		}
	}
	slices.Sort(peers)
	return k.fetch(ctx, fetch.File{Name: f.File, SHA256: f.SHA256, Bytes: f.Bytes}, path, peers, sources)
}

// fetch copies a file from a peer or a source.
func (k *Keeper) fetch(ctx context.Context, file fetch.File, path string, peers, sources []string) error {
	if len(peers)+len(sources) == 0 {
		return fmt.Errorf("%s: no node that answers has the file %s: publish it again, or start the node that has it", file.Name, file.SHA256)
	}
	var err error
	if len(peers) > 0 {
		err = k.Peers.Fetch(ctx, file, path, peers...)
		if _, full := errors.AsType[*fetch.DiskFullError](err); err == nil || full || ctx.Err() != nil {
			return err
		}
	}
	if len(sources) == 0 {
		return err
	}
	if sourceErr := k.Fetch.Fetch(ctx, file, path, sources...); sourceErr != nil {
		return errors.Join(err, sourceErr)
	}
	return nil
}

// unload closes epochs that no map has, when the longest deadline has passed since this node saw
// it. Only this node's own clock counts.
func (k *Keeper) unload(states map[string]*State) {
	wanted := map[collection]bool{}
	for name, s := range states {
		for _, m := range s.maps() {
			wanted[collection{name, m.Epoch}] = true
		}
	}
	for part := range k.failed {
		if !wanted[collection{part.Name, part.Epoch}] {
			delete(k.failed, part)
		}
	}
	gone := map[collection]bool{}
	for part := range k.loaded {
		c := collection{part.Name, part.Epoch}
		if wanted[c] {
			continue
		}
		if since, ok := k.retired[c]; !ok {
			k.retired[c] = k.now()
		} else if k.now().Sub(since) >= k.Deadline {
			gone[c] = true
		}
	}
	for c := range gone {
		k.close(c)
	}
}

// clean removes files that no map and no loaded epoch needs.
func (k *Keeper) clean(states map[string]*State) error {
	needed := map[string]bool{}
	for part, sum := range k.loaded {
		needed[sum], needed[k.attributes[part]] = true, true
	}
	for _, s := range states {
		for _, m := range s.maps() {
			for _, shard := range m.Shards {
				if slices.Contains(shard.Replicas, k.Node) {
					for _, f := range shard.Files() {
						needed[f.SHA256] = true
					}
				}
			}
		}
	}
	var wrong error
	for _, dir := range []string{"files", aside} {
		found, err := os.ReadDir(filepath.Join(k.Dir, dir))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			wrong = errors.Join(wrong, err)
		}
		for _, f := range found {
			if sum, _, _ := strings.Cut(f.Name(), "."); !needed[sum] {
				wrong = errors.Join(wrong, os.Remove(filepath.Join(k.Dir, dir, f.Name())))
			}
		}
	}
	return wrong
}
