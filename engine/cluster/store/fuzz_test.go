package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/engine/file/auxiliary"
	"heddle/engine/internal/layout"
)

// FuzzLast: maps on disk that a node accepts are valid, without intents, and are the same after
// they were written and read again.
func FuzzLast(f *testing.F) {
	m := &layout.Map{Name: "books", Kind: layout.Index, Epoch: 4, Docs: 9, Shards: []layout.Shard{
		{File: "a.hdl", Docs: 5, Bytes: 100, SHA256: strings.Repeat("0a", 32), Replicas: []string{"n1", "n2"}},
		{File: "b.hdl", First: 5, Docs: 4, Bytes: 90, SHA256: strings.Repeat("1b", 32), Replicas: []string{"n2"}},
	}}
	next := *m
	next.Epoch = 5
	text, err := auxiliary.Seal(lastMaps{map[string]*State{"books": {Epoch: 5, Current: m, Intent: &Intent{Verb: "move", Target: &next}}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"maps":{"books":null}}`))
	f.Add([]byte(`{"maps":{"books":{"epoch":3}}}`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		k := &Keeper{Dir: dir}
		if err := os.WriteFile(filepath.Join(dir, last), data, 0o600); err != nil {
			t.Fatal(err)
		}
		states, err := k.readLast()
		if err != nil {
			return
		}
		for name, s := range states {
			if s == nil || s.Intent != nil || s.Validate() != nil {
				t.Fatalf("%s: %+v", name, s)
			}
		}
		if err := k.writeLast(states); err != nil {
			t.Fatal(err)
		}
		if again, err := k.readLast(); err != nil || len(again) != len(states) {
			t.Fatalf("written and read again: %v, %v", again, err)
		}
	})
}

// FuzzState: a state of the store that decode accepts stays valid through its steps.
func FuzzState(f *testing.F) {
	f.Add([]byte(`{"epoch":2,"current":{"name":"x","kind":"table","epoch":1,"docs":0,"shards":[{"file":"a","sha256":"` + strings.Repeat("0", 64) + `","replicas":["n1"]}]},` +
		`"intent":{"verb":"publish","target":{"name":"x","kind":"table","epoch":2,"docs":0,"shards":[{"file":"a","sha256":"` + strings.Repeat("1", 64) + `","replicas":["n1"]}]}}}`))
	f.Add([]byte(`{"epoch":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := decode(data)
		if err != nil {
			return
		}
		for _, dead := range [][]string{nil, {"n1"}} {
			if next, ok := s.Advance(map[string]*Report{}, dead); ok && next.Validate() != nil {
				t.Fatalf("%+v becomes %+v: %v", s, next, next.Validate())
			}
		}
	})
}
