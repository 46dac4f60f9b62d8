package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"heddle/engine/cluster/fetch"
	"heddle/engine/file/scratch"
	"heddle/engine/file/shared"
)

// Damage is a file that had other bytes than its checksum says, or was lost.
type Damage struct {
	File   string `json:"file"`  // name, which begins with the checksum
	Error  string `json:"error"` // how it differs
	Healed bool   `json:"healed"`
}

// aside is the folder of damaged files in the folder of a node.
const aside = "damaged"

// mostDamage is the number of damaged files that a report names, the newest files.
const mostDamage = 16

// pace is the number of bytes that the regular check of all files reads in a second.
const pace = 64 << 20

// health is the knowledge of a node about its files.
type health struct {
	stamps  map[string]os.FileInfo // by path, when the file had its checksum; only Step uses it
	next    time.Time              // time of the next regular check; only Step uses it
	damages []Damage               // only Step uses it
	checks  sync.WaitGroup

	mu       sync.Mutex
	doubts   map[Part]bool
	checking map[string]bool  // paths
	bad      map[string]error // by path: the result of checks
}

// Doubt says that a query has found an open shard damaged. The next step checks its files. It is safe for
// concurrent use.
func (k *Keeper) Doubt(p Part) {
	k.health.mu.Lock()
	defer k.health.mu.Unlock()
	if k.health.doubts == nil {
		k.health.doubts = map[Part]bool{}
	}
	k.health.doubts[p] = true
}

// paths are the files of open shards by their paths, with the shards that have them.
func (k *Keeper) paths() map[string][]Part {
	all := map[string][]Part{}
	for _, of := range []map[Part]string{k.loaded, k.attributes} {
		for p, sum := range of {
			if path := k.Find(sum); path != "" {
				all[path] = append(all[path], p)
			} else if path := k.lost(sum); path != "" {
				all[path] = append(all[path], p)
			}
		}
	}
	return all
}

// lost returns the path of a file that was there.
func (k *Keeper) lost(sum string) string {
	for path := range k.health.stamps {
		if sumOf(path) == sum {
			return path
		}
	}
	return ""
}

// sumOf returns the checksum in the name of a file.
func sumOf(path string) string {
	name := filepath.Base(path)
	return name[:len(name)-len(filepath.Ext(name))]
}

// stamp notes the state of a file that has its checksum.
func (k *Keeper) stamp(path string) {
	if k.health.stamps == nil {
		k.health.stamps = map[string]os.FileInfo{}
	}
	if info, err := os.Stat(path); err == nil {
		k.health.stamps[path] = info
	}
}

// inspect looks for damaged files of open shards and moves them aside, so that the step fetches them again. A
// file that has changed, or that a query doubts, is read in the background, and so are all files in each
// period Verify.
func (k *Keeper) inspect(ctx context.Context) error {
	k.health.mu.Lock()
	doubts, bad := k.health.doubts, k.health.bad
	k.health.doubts, k.health.bad = nil, nil
	k.health.mu.Unlock()
	files := k.paths()
	all := k.Verify > 0 && len(files) > 0 && !k.now().Before(k.health.next)
	if all {
		k.health.next = k.now().Add(k.Verify)
	}
	var regular []string
	for path, parts := range files {
		old := k.health.stamps[path]
		now, err := os.Stat(path)
		switch {
		case err != nil || old != nil && now.Size() != old.Size():
			if err == nil {
				err = fmt.Errorf("it has %d bytes, not %d", now.Size(), old.Size())
			}
			bad = maps.Clone(bad)
			if bad == nil {
				bad = map[string]error{}
			}
			bad[path] = err
		case old == nil || !now.ModTime().Equal(old.ModTime()) || slices.ContainsFunc(parts, func(p Part) bool { return doubts[p] }):
			k.stamp(path)
			k.check(ctx, 0, path)
		case all:
			regular = append(regular, path)
		}
	}
	k.check(ctx, pace, regular...)
	var err error
	for path, reason := range bad {
		if files[path] != nil {
			err = errors.Join(err, k.putAside(path, reason))
		}
	}
	return err
}

// check reads files in the background, at most the given number of bytes in a second; 0 is no limit.
func (k *Keeper) check(ctx context.Context, rate int64, paths ...string) {
	k.health.mu.Lock()
	defer k.health.mu.Unlock()
	if k.health.checking == nil {
		k.health.checking = map[string]bool{}
	}
	paths = slices.DeleteFunc(paths, func(path string) bool { return k.health.checking[path] })
	for _, path := range paths {
		k.health.checking[path] = true
	}
	if len(paths) == 0 {
		return
	}
	k.health.checks.Go(func() {
		for _, path := range paths {
			err := verify(ctx, path, rate)
			k.health.mu.Lock()
			delete(k.health.checking, path)
			if err != nil && ctx.Err() == nil {
				if k.health.bad == nil {
					k.health.bad = map[string]error{}
				}
				k.health.bad[path] = err
			}
			k.health.mu.Unlock()
		}
	})
}

// verify returns an error if a file has another checksum than its name.
func verify(ctx context.Context, path string, rate int64) error {
	f, err := shared.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	for began, read := time.Now(), int64(0); ; {
		n, err := io.CopyN(sum, f, 4<<20)
		read += n
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		late := time.Duration(0)
		if rate > 0 {
			late = time.Duration(float64(read)/float64(rate)*float64(time.Second)) - time.Since(began)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(late):
		}
	}
	if found := hex.EncodeToString(sum.Sum(nil)); found != sumOf(path) {
		return fmt.Errorf("its bytes have the checksum %s", found)
	}
	return nil
}

// putAside ends the use of a damaged file, and moves it to the folder of damaged files.
func (k *Keeper) putAside(path string, reason error) error {
	sum := sumOf(path)
	for _, of := range []map[Part]string{k.loaded, k.attributes} {
		for p, is := range of {
			if is == sum {
				k.Loader.Drop(p.Name, p.Epoch, p.Shard)
				delete(k.loaded, p)
				delete(k.attributes, p)
			}
		}
	}
	delete(k.health.stamps, path)
	to := filepath.Join(k.Dir, aside)
	err := os.MkdirAll(to, 0o755)
	if err == nil {
		err = os.Rename(path, filepath.Join(to, filepath.Base(path)))
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	k.note(Damage{File: filepath.Base(path), Error: reason.Error()})
	return nil
}

// note reports a damaged file or its repair.
func (k *Keeper) note(d Damage) {
	is := func(old Damage) bool { return old.File == d.File }
	k.health.damages = slices.DeleteFunc(k.health.damages, is)
	k.health.damages = append(k.health.damages, d)
	k.health.damages = k.health.damages[max(0, len(k.health.damages)-mostDamage):]
	if k.Damaged != nil {
		k.Damaged(d)
	}
}

// healed reports that a file has its checksum again, if it was damaged.
func (k *Keeper) healed(path string) {
	k.stamp(path)
	for _, d := range k.health.damages {
		if d.File == filepath.Base(path) && !d.Healed {
			d.Healed = true
			k.note(d)
			return
		}
	}
}

// spoiled moves a file aside if it is the reason of an error of the Loader.
func (k *Keeper) spoiled(ctx context.Context, path string) (bool, error) {
	reason := verify(ctx, path, 0)
	if reason == nil || ctx.Err() != nil {
		return false, ctx.Err()
	}
	return true, k.putAside(path, reason)
}

// room deletes the damaged files, whose place a fetch needs.
func (k *Keeper) room(err error) {
	if _, full := errors.AsType[*fetch.DiskFullError](err); full {
		_ = scratch.RemoveAll(filepath.Join(k.Dir, aside)) // the next step tries again
	}
}
