package parquet

import (
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"
	"pgregory.net/rapid"
)

// TestDeltas reads texts that the library wrote, whose fronts or lengths are differences.
func TestDeltas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(-1, 9).Draw(t, "size") // of each text; other sizes if it is -1
		least, most := max(size, 0), size
		if size < 0 {
			most = 9
		}
		texts := rapid.SliceOfN(rapid.SliceOfN(rapid.ByteRange('a', 'b'), least, most), 1, 300).Draw(t, "texts")
		ends := []uint32{0}
		for _, text := range texts {
			ends = append(ends, ends[len(ends)-1]+uint32(len(text)))
		}
		values := encoding.ByteArrayValues(slices.Concat(texts...), ends)
		types := []parquet.Type{parquet.ByteArrayType}
		if size > 0 {
			types = append(types, parquet.FixedLenByteArrayType(size))
		}
		for _, e := range []format.Encoding{format.DeltaLengthByteArray, format.DeltaByteArray} {
			data, err := encoding.EncodeByteArray(nil, values, parquet.LookupEncoding(e))
			if err != nil {
				t.Fatal(err)
			}
			for _, typ := range types {
				if e == format.DeltaLengthByteArray && typ.Kind() == parquet.FixedLenByteArray {
					continue // no such values exist
				}
				p := pageReader{typ: typ, left: int64(len(texts))}
				if err := p.start(len(texts), nil, nil, data, e); err != nil {
					t.Fatal(err)
				}
				got := make([]parquet.Value, len(texts))
				if n, err := p.ReadValues(got); n != len(texts) || err != nil {
					t.Fatalf("%d values, error %v", n, err)
				}
				for i, text := range texts {
					if string(got[i].ByteArray()) != string(text) {
						t.Fatalf("encoding %v: text %d is %q, want %q", e, i, got[i].ByteArray(), text)
					}
				}
			}
		}
	})
}

// TestDeltasOfOtherSize refuses a text of another size than its type has.
func TestDeltasOfOtherSize(t *testing.T) {
	data, err := encoding.EncodeByteArray(nil, encoding.ByteArrayValues([]byte("abcdef"), []uint32{0, 2, 6}), &parquet.DeltaByteArray)
	if err != nil {
		t.Fatal(err)
	}
	p := pageReader{typ: parquet.FixedLenByteArrayType(3), left: 2}
	if err := p.start(2, nil, nil, data, format.DeltaByteArray); err == nil || err.Error() != "texts of other lengths than 3 bytes" {
		t.Errorf("error %v", err)
	}
}
