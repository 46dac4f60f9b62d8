package hdl

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
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
	containertest.RepairBlocks(data)
	f, err := fromBytes("x", data, true)
	if err != nil {
		t.Fatal(err)
	}
	c := containertest.WantCorrupt(t, f.Verify(context.Background()), "x")
	if got := c.Section + ": " + c.Reason; got != "freqs: list 0: impact 0 is 256, more than 8 bits" {
		t.Error(got)
	}
}

// TestMetaVersions reads metadata that no Writer writes: unknown impacts, and keys of
// version 2 in a file of version 1, which have no meaning there.
func TestMetaVersions(t *testing.T) {
	meta := func(version uint32, text string) (Meta, error) {
		return decodeMeta([]byte(text), &header{Header: container.Header{Version: version, Table: make([]container.Extent, numSections)}})
	}
	const two = `{"impacts":{"bits":8,"origin":"weights","scale":2},"analysis":{"tokens":"whitespace"}}`
	m, err := meta(2, two)
	if want := (Impacts{Bits: 8, Origin: ImpactsWeights, Scale: 2}); err != nil || m.Impacts != want || m.Analysis.Tokens != "whitespace" {
		t.Errorf("%+v, %v", m, err)
	}
	if m, err := meta(1, two); err != nil || m.Impacts != (Impacts{}) || m.Analysis.Tokens != "" || m.Impacts.Max() != math.MaxUint32 {
		t.Errorf("%+v, %v", m, err)
	}
	const three = `{"lengths":"lucene","analysis":{"fold":true}}`
	for version := range uint32(3) {
		m, err := meta(version+1, three)
		if known := version == 2; err != nil || m.Analysis.Fold != known || m.roundsLengths() != known {
			t.Errorf("version %d: %+v, %v", version+1, m, err)
		}
	}
	if m, err := meta(3, `{"lengths":"short"}`); err == nil {
		t.Errorf("unknown lengths are read as %+v", m)
	}
	for _, text := range []string{
		`{"impacts":{"bits":9,"origin":"weights"}}`, `{"impacts":{"bits":256}}`, `{"impacts":{"bits":16,"origin":"x"}}`,
		`{"impacts":{"bits":8,"origin":"bm25","scale":-0.5}}`, `{"impacts":[]}`, `{"impacts":{"scale":1}}`,
	} {
		if m, err := meta(2, text); err == nil {
			t.Errorf("%s is read as %+v", text, m)
		}
	}
}
