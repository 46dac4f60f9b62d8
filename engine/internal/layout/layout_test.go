package layout

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"heddle/engine/file/container"
	"heddle/engine/file/container/containertest"
)

var sum = strings.Repeat("0", 64)

var good = `{"name":"x","kind":"index","docs":5,"length":9,"shards":[{"file":"a","first":0,"docs":2,"bytes":7,"sha256":"` + sum +
	`"},{"file":"b","first":2,"docs":3,"bytes":8,"sha256":"` + sum + `","replicas":["n1","n2"]}]}`

// TestParse: each wrong member is named.
func TestParse(t *testing.T) {
	if _, err := Parse([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][3]string{
		{`"index"`, `"tree"`, `kind "tree"`},
		{`"name":"x"`, `"name":""`, "name has 0 bytes"},
		{`"first":2`, `"first":3`, "shards[1].first is 3"},
		{`"docs":3`, `"docs":4`, "shards[1].docs is 4"},
		{`"docs":3`, `"docs":1`, "the shards have 3 documents, the whole has 5"},
		{`"docs":5`, `"docs":-5`, "docs"},
		{`"docs":5`, `"docs":18446744073709551616`, "docs"},
		{`"file":"b"`, `"file":"a"`, `shards[1].file is "a": an earlier shard`},
		{`"file":"b"`, `"file":"../b"`, `shards[1].file is "../b"`},
		{`"file":"b"`, `"file":"c\\b"`, `shards[1].file is "c\\b"`},
		{`"file":"b"`, `"file":""`, `shards[1].file is ""`},
		{`"n2"`, `""`, "shards[1].replicas[1] has 0 bytes"},
		{sum, "00", "shards[0].sha256 has 2 digits"},
		{sum, sum[1:] + "A", `shards[0].sha256 is "000`},
		{sum, sum[1:] + "g", `shards[0].sha256 is "000`},
		{`}]}`, `}]} x`, "byte"},
	} {
		if _, err := Parse([]byte(strings.Replace(good, c[0], c[1], 1))); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s in place of %s: error %v, want %q", c[1], c[0], err, c[2])
		}
	}
	if _, err := Parse(make([]byte, MaxBytes+1)); err == nil || !strings.Contains(err.Error(), "33554433 bytes") {
		t.Errorf("too large a map: %v", err)
	}
	if _, err := Parse([]byte(`{"name":"x","kind":"table","docs":0,"shards":[]}`)); err == nil {
		t.Error("a map without shards")
	}
	many := `{"name":"x","kind":"table","docs":0,"shards":[` + strings.Repeat("{},", MaxShards) + `{}]}`
	if _, err := Parse([]byte(many)); err == nil || !strings.Contains(err.Error(), "65537 elements") {
		t.Errorf("too many shards: %v", err)
	}
}

// TestManifest writes a manifest and reads it by the name of its folder. A damaged manifest is a
// corrupt file.
func TestManifest(t *testing.T) {
	dir := t.TempDir()
	m, err := Parse([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, ManifestName)
	for range 2 {
		if err := m.Write(path); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadManifest(dir); err != nil || !reflect.DeepEqual(got, m) {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	if names, err := filepath.Glob(dir + "/*"); err != nil || len(names) != 1 {
		t.Fatalf("%q remain, %v", names, err)
	}
	m.Docs++
	if err := m.Write(path); err == nil {
		t.Fatal("a wrong manifest was written")
	}
	if m, err := ReadManifest(path); err != nil || m.Docs != 5 {
		t.Fatalf("%+v, %v", m, err)
	}
	if err := (container.OSDisk{}).Rename(path, filepath.Join(dir, "x.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadManifest(dir); err == nil || errors.Is(err, container.ErrCorrupt) {
		t.Fatalf("a missing manifest: %v", err)
	}
}

// TestDamaged: each changed bit, and each truncation, of a manifest is refused with the path. An independent
// computation gives the same checksum. A change by hand is possible without the checksum.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, ManifestName)
	m, err := Parse([]byte(good))
	if err := errors.Join(err, m.Write(path)); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	member := regexp.MustCompile(`,\n  "checksum": "[0-9a-f]{64}"\n}\n$`).Find(data)
	containertest.WantSealed(t, data, func(data []byte) error {
		_, err := Parse(data)
		return err
	})
	changed := bytes.Replace(data, []byte(`"n1"`), []byte(`"n3"`), 1)
	write := func(data []byte) {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(changed)
	if _, err := ReadManifest(dir); !errors.Is(err, container.ErrCorrupt) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "remove the member checksum") {
		t.Fatalf("a changed manifest: %v", err)
	}
	write(bytes.Replace(changed, member, []byte("\n}\n"), 1))
	if m, err := ReadManifest(dir); err != nil || m.Shards[1].Replicas[0] != "n3" {
		t.Fatalf("a change by hand: %+v, %v", m, err)
	}
}

// FuzzParse: a map that Parse accepts is the same after it was written and parsed again, and its
// shards lie side by side.
func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(`{"name":"x","kind":"table","docs":0,"shards":[{"file":"a","sha256":"` + sum + `"}]}`))
	f.Add([]byte(`{"shards":[{"first":18446744073709551615,"docs":18446744073709551615}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Parse(data)
		if err != nil {
			return
		}
		docs := uint64(0)
		for _, s := range m.Shards {
			if s.First != docs {
				t.Fatalf("a gap before document %d", s.First)
			}
			docs += s.Docs
		}
		if docs != m.Docs || len(m.Cuts()) != len(m.Shards)-1 {
			t.Fatalf("%d documents, %d cuts: %+v", docs, len(m.Cuts()), m)
		}
		again, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := Parse(again); err != nil || n.Docs != m.Docs || len(n.Shards) != len(m.Shards) {
			t.Fatalf("written and parsed again: %+v, %v", n, err)
		}
	})
}
