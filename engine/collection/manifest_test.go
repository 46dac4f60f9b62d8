package collection

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"heddle/engine/file/auxiliary"
	"heddle/engine/file/container/containertest"
)

var sum = strings.Repeat("0", 64)

var good = `{"name":"x","kind":"collection","epoch":3,"docs":5,"length":9,"settings":{"rules":1},"shards":[{"file":"a","first":0,"docs":5,"bytes":7,"sha256":"` + sum +
	`","length":9,"keys":{"file":"k","bytes":1,"sha256":"` + sum + `"},"deleted":{"file":"d","bytes":1,"sha256":"` + sum + `","docs":2}}]}`

// TestParse: each wrong member is named.
func TestParse(t *testing.T) {
	if m, err := Parse([]byte(good)); err != nil || m.Live() != 3 {
		t.Fatal(m, err)
	}
	for _, c := range [][3]string{
		{`"collection"`, `"index"`, `kind "index"`},
		{`"rules":1`, `"rules":2`, "settings.rules is 2, this build has the analysis rules 1"},
		{`"epoch":3`, `"epoch":0`, "epoch is 0"},
		{`"file":"k"`, `"file":"../k"`, `shards[0].keys.file is "../k"`},
		{`"file":"d"`, `"file":""`, `shards[0].deleted.file is ""`},
		{`"docs":2`, `"docs":6`, "shards[0].deleted.docs is 6"},
		{`"docs":5,"bytes"`, `"docs":4,"bytes"`, "the shards have 4 documents"},
		{`"first":0`, `"first":1`, "shards[0].first is 1"},
	} {
		if _, err := Parse([]byte(strings.Replace(good, c[0], c[1], 1))); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s in place of %s: error %v, want %q", c[1], c[0], err, c[2])
		}
	}
}

// TestChecksum: each changed bit, and each truncation, of a manifest is refused. An independent
// computation gives the same checksum. A manifest without a checksum, of an earlier version, is read.
func TestChecksum(t *testing.T) {
	m, err := Parse([]byte(good))
	must(t, err)
	data, err := auxiliary.Seal(m)
	must(t, err)
	got, err := Parse(data)
	must(t, err)
	if !reflect.DeepEqual(got, m) {
		t.Fatalf("%+v became %+v", m, got)
	}
	containertest.WantSealed(t, data, func(data []byte) error {
		_, err := Parse(data)
		return err
	})
}

// FuzzParse: a manifest that Parse accepts is the same after it was written and parsed again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Parse(data)
		if err != nil {
			return
		}
		again, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := Parse(again); err != nil || n.Live() != m.Live() || n.Docs != m.Docs {
			t.Fatalf("%+v, %v", n, err)
		}
	})
}
