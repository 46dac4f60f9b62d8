package hdl

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"heddle/engine/file/container"
	"heddle/engine/file/container/containertest"
)

func TestImpacts(t *testing.T) {
	for _, bits := range []uint8{8, 16} {
		s := tiny().withImpacts(bits)
		data := s.image(t)
		if v := binary.LittleEndian.Uint32(data[8:]); v != Version {
			t.Errorf("version %d, want %d", v, Version)
		}
		f, err := fromBytes("x", data, true)
		if err != nil {
			t.Fatal(err)
		}
		s.check(t, f)
		s.checkReader(t, reader{data})
		if err := f.Verify(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

// TestImpactRange breaks the bound in the writer and in the file.
func TestImpactRange(t *testing.T) {
	s := tiny().withImpacts(8)
	w, err := Create(filepath.Join(t.TempDir(), "x.hdl"), s.meta)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.AddList("a", []uint32{1, 3}, []uint32{255, 256}); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), "docID 3 has impact 256; at most 255") {
		t.Errorf("got %v", err)
	}
	if err := w.Abort(); err != nil {
		t.Error(err)
	}

	s = tiny().withImpacts(16)
	s.freqs[0][0] = 256
	data := s.image(t)
	h, err := headerOf(data)
	if err != nil {
		t.Fatal(err)
	}
	e := h.Table[secMeta]
	meta := data[e.Offset : e.Offset+e.Length]
	copy(meta, bytes.Replace(bytes.Clone(meta), []byte(`"bits":16`), []byte(`"bits": 8`), 1))
	repairBlocks(data)
	f, err := fromBytes("x", data, true)
	if err != nil {
		t.Fatal(err)
	}
	c := containertest.WantCorrupt(t, f.Verify(context.Background()), "x")
	if got := c.Section + ": " + c.Reason; got != "freqs: list 0: impact 0 is 256, more than 8 bits" {
		t.Error(got)
	}
}

// TestMetaValues reads metadata that no Writer writes.
func TestMetaValues(t *testing.T) {
	for _, text := range []string{
		`{"impacts":{"bits":9,"origin":"weights"}}`, `{"impacts":{"bits":256}}`, `{"impacts":{"bits":16,"origin":"x"}}`,
		`{"impacts":{"bits":8,"origin":"bm25","scale":-0.5}}`, `{"impacts":[]}`, `{"impacts":{"scale":1}}`, `{"lengths":"short"}`,
	} {
		if m, err := decodeMeta([]byte(text), &header{Header: container.Header{Table: make([]container.Extent, numSections)}}); err == nil {
			t.Errorf("%s is read as %+v", text, m)
		}
	}
}

// TestForeign opens intact files that need more than this build knows.
func TestForeign(t *testing.T) {
	for want, change := range map[string]func(*Meta){
		`it needs the feature "phonemes"`:     func(m *Meta) { m.Needs = []string{"phonemes", "x"} },
		"its terms have the analysis rules 9": func(m *Meta) { m.Analysis.Rules = 9 },
	} {
		s := tiny()
		change(&s.meta)
		path := s.build(t)
		if _, err := Open(path); !errors.Is(err, ErrVersion) || errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	data := tiny().image(t)
	put32(data, container.FieldsOffset+32, MaxFields+1)
	repairBlocks(data)
	if _, err := fromBytes("x", data, true); !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), "it has 65 fields") {
		t.Errorf("65 fields: %v", err)
	}
	put32(data, 8, 4)
	repairBlocks(data)
	if _, err := fromBytes("x", data, true); !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), "build the index again from its documents") {
		t.Errorf("version 4: %v", err)
	}
}
