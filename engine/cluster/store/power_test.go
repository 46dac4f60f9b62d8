package store

import (
	"bytes"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"heddle/engine/file/container/containertest"
	"heddle/engine/internal/layout"
)

// TestPowerCuts: behind a power cut at any operation a node has its last maps, or the maps before, and
// never maps without the identity of their cluster. Each failure of a sync is an error, and the next step
// mends it.
func TestPowerCuts(t *testing.T) {
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	one := &layout.Map{Name: "books", Kind: layout.Index, Epoch: 1, Docs: 1, Shards: []layout.Shard{{File: "x.hdl", Docs: 1, Bytes: 7, SHA256: hash('1'), Replicas: []string{"a"}}}}
	two := *one
	two.Epoch = 2
	for fail := 0; ; fail++ {
		root, id := t.TempDir(), rand.Text()
		least, most := uint64(0), uint64(0) // epoch; 0: no maps
		p := containertest.NewPower(t, root, func(dir string) {
			k := &Keeper{Dir: dir}
			states, err := k.readLast()
			must(err)
			got := uint64(0)
			if s := states["books"]; s != nil {
				got = s.Current.Epoch
			}
			if got < least || got > most {
				t.Fatalf("behind a power cut, sync %d failed: epoch %d, want %d to %d", fail, got, least, most)
			}
			if is, err := os.ReadFile(filepath.Join(dir, idFile)); got > 0 && (err != nil || string(is) != id) {
				t.Fatalf("behind a power cut, sync %d failed: epoch %d of cluster %q, %v", fail, got, is, err)
			}
		})
		p.Fail = fail
		k := &Keeper{Dir: root, disk: p}
		k.cluster.Store(&id)
		failed := 0
		for _, m := range []*layout.Map{one, &two} {
			states := map[string]*State{"books": {Epoch: m.Epoch, Current: m}}
			most = m.Epoch
			if err := k.writeLast(states); err != nil {
				if !errors.Is(err, containertest.ErrFault) {
					t.Fatal(err)
				}
				failed++
				must(k.writeLast(states))
			}
			least = m.Epoch
			p.Renewed()
		}
		if fail > p.Syncs() {
			return
		}
		if failed != min(fail, 1) {
			t.Fatalf("sync %d failed, %d errors", fail, failed)
		}
	}
}

// TestDamagedLast: no changed byte of the last maps goes unseen, and a step with the store mends the file.
func TestDamagedLast(t *testing.T) {
	kv, k := published(t)
	path := filepath.Join(k.Dir, last)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if states, err := k.readLast(); err == nil {
			t.Fatalf("%q is read as %v", bad, states)
		}
	}
	again := &Keeper{KV: kv, Node: "a", Dir: k.Dir, Loader: noLoader{}}
	if err := again.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, good) {
		t.Errorf("after a step: %s, %v", now, err)
	}
}

// hash is a checksum of one digit.
func hash(digit byte) string {
	b := make([]byte, 64)
	for i := range b {
		b[i] = digit
	}
	return string(b)
}
