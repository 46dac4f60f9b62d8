package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"heddle/engine/file/input"
	"heddle/engine/table/read"
	"heddle/engine/table/read/readtest"
)

// TestParquetErrorTexts changes each byte of files: errors name the file, and have no texts of Go and of the library.
func TestParquetErrorTexts(t *testing.T) {
	for _, name := range []string{"types.parquet", "pages-V1-lz4_raw.parquet", "pages-V2-zstd.parquet", "empty-page-v2.parquet"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		path := readtest.Write(t, "x.parquet", "")
		seen := map[string]int{}
		for at := 0; at < len(data); at += 1 + len(data)/200 {
			damaged := append([]byte{}, data...)
			damaged[at] ^= 1 << (at % 8)
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := Open(t.Context(), []string{path}, Options{})
			if _, err = readtest.ReadAll(t, s, err); err == nil {
				continue
			}
			text := err.Error()
			seen[text]++
			if !strings.HasPrefix(text, path+": ") {
				t.Errorf("%s: byte %d: %v", name, at, err)
			}
			for _, bad := range []string{
				"parquet:", "reflect", "runtime error", "interface", "slice bounds", "thrift", "EOF", "goroutine", "strconv", "nil", "index out", "corrupt",
				"decoding", "required field", "invalid argument", "unmarshal", "lz4", "zstd:", "s2:", "FIELD<", "readat", "len", "memory", "varint", "(?)",
			} {
				if strings.Contains(strings.ReplaceAll(text, path, ""), bad) {
					t.Errorf("%s: byte %d: %v", name, at, err)
				}
			}
		}
		if len(seen) < 10 {
			t.Errorf("%s: %d errors are noticed", name, len(seen))
		}
	}
}

// TestKeysWithoutValues reads a file whose key has no value.
func TestKeysWithoutValues(t *testing.T) {
	type row struct {
		N int64 `parquet:"n"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b, parquet.KeyValueMetadata("key", ""))
	if _, err := w.Write([]row{{7}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	whole, without := "\x18\x03key\x18\x00\x00", "\x18\x03key\x00"
	text := b.String()
	if strings.Count(text, whole) != 1 {
		t.Fatalf("%q", text)
	}
	text = strings.Replace(text, whole, without, 1)
	length := binary.LittleEndian.Uint32([]byte(text[len(text)-8:])) - 2
	text = text[:len(text)-8] + string(binary.LittleEndian.AppendUint32(nil, length)) + "PAR1"
	s, err := Open(t.Context(), []string{readtest.Write(t, "x.parquet", text)}, Options{})
	if got, err := readtest.ReadAll(t, s, err); err != nil || fmt.Sprint(got.Rows) != "[[7]]" {
		t.Errorf("%v, error %v", got.Rows, err)
	}
}

// TestParquetDepth refuses structures in each other without an end, in footers and in headers of pages.
func TestParquetDepth(t *testing.T) {
	nested := strings.Repeat("\x1c", 1<<22)
	footer := "PAR1" + nested + string(binary.LittleEndian.AppendUint32(nil, uint32(len(nested)))) + "PAR1"
	s, err := Open(t.Context(), []string{readtest.Write(t, "x.parquet", footer)}, Options{})
	_, err = readtest.ReadAll(t, s, err)
	readtest.WantError(t, err, "damaged footer: more than 32 structures in each other")
	p := pageReader{file: strings.NewReader(nested), end: int64(len(nested)), left: 1, group: 1}
	if _, err := p.ReadValues(make([]parquet.Value, 1)); err == nil || err.Error() != "row group 1: page 1: damaged header: more than 32 structures in each other" {
		t.Errorf("error %v", err)
	}
}

// TestParquetEnds names the file and the wrong end.
func TestParquetEnds(t *testing.T) {
	good, err := os.ReadFile("testdata/types.parquet")
	if err != nil {
		t.Fatal(err)
	}
	end := len(good)
	for want, data := range map[string][]byte{
		"the file has 0 bytes, fewer than any Parquet file":           nil,
		`the file begins with "PARX"; Parquet files begin with PAR1`:  slices.Concat([]byte("PARX"), good[4:]),
		`the file ends with "PARX"; Parquet files end with PAR1`:      slices.Concat(good[:end-4], []byte("PARX")),
		"the file is encrypted, which is not supported":               slices.Concat(good[:end-4], []byte("PARE")),
		fmt.Sprint("a footer of 4294967295 bytes in a file of ", end): slices.Concat(good[:end-8], []byte("\xff\xff\xff\xffPAR1")),
		"damaged footer: a value that does not end where it must":     []byte("PAR1\x00\x00\x00\x00PAR1"),
		"damaged footer: a structure without its field 1":             []byte("PAR1\x00\x01\x00\x00\x00PAR1"),
		"damaged footer: 2 bytes behind its end":                      []byte("PAR1\x00\x00\x00\x03\x00\x00\x00PAR1"),
		"the file has encrypted columns, which are not supported":     slices.Concat([]byte("PAR1"), make([]byte, 29), []byte("\x1d\x00\x00\x00PAR1")),
		"damaged footer: a value of type 14":                          []byte("PAR1\x1e\x01\x00\x00\x00PAR1"),
		"damaged footer: more than 32 structures in each other":       slices.Concat([]byte("PAR1"), bytes.Repeat([]byte{0x1c}, 99), []byte("\x63\x00\x00\x00PAR1")),
	} {
		s, err := Open(t.Context(), []string{readtest.Write(t, "x.parquet", string(data))}, Options{})
		_, err = readtest.ReadAll(t, s, err)
		readtest.WantError(t, err, "x.parquet: "+want)
	}
}

// FuzzParquetPages changes bytes of pages: an error of the input, or values.
func FuzzParquetPages(f *testing.F) {
	var files [][]byte
	for _, path := range []string{"testdata/pages-V1-lz4_raw.parquet", "testdata/pages-V2-zstd.parquet"} {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		files = append(files, data)
	}
	files = append(files, deltaFile(f))
	f.Add(uint8(0), uint16(4), []byte{0x15, 0xff})
	f.Add(uint8(1), uint16(40), []byte{0})
	f.Add(uint8(1), uint16(900), []byte{1, 2, 3})
	f.Add(uint8(2), uint16(60), []byte{0xff})
	f.Fuzz(func(t *testing.T, file uint8, at uint16, change []byte) {
		data := bytes.Clone(files[int(file)%len(files)])
		opened, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)), parquet.SkipPageIndex(true))
		if err != nil {
			t.Fatal(err)
		}
		copy(data[min(int(at), len(data)):], change)
		for i, c := range opened.Root().Columns() {
			x := columnReader{leaf: leaf{name: c.Name(), column: c}}
			if x.columnType, err = typeOf(c, element(opened.Metadata(), i)); err != nil {
				t.Fatal(err)
			}
			if x.values, err = openChunk(c, 1, &opened.Metadata().RowGroups[0].Columns[i], bytes.NewReader(data), int64(len(data))); err != nil {
				t.Fatal(err)
			}
			var v read.Values
			x.read("x", &v, 0, 500)
			if n := len(v.Keys) + len(v.Ends); x.err == nil && n != 500 {
				t.Errorf("column %s: %d values", x.name, n)
			}
			if x.err != nil && !errors.Is(x.err, input.ErrCorrupt) {
				t.Errorf("column %s: %v", x.name, x.err)
			}
		}
	})
}

// deltaFile is a file with 500 texts, whose fronts and lengths are differences.
func deltaFile(tb testing.TB) []byte {
	type row struct{ A, B string }
	var b bytes.Buffer
	schema := parquet.NewSchema("rows", parquet.Group{
		"A": parquet.Encoded(parquet.String(), &parquet.DeltaByteArray),
		"B": parquet.Encoded(parquet.String(), &parquet.DeltaLengthByteArray),
	})
	w := parquet.NewGenericWriter[row](&b, schema)
	for i := range 500 {
		if _, err := w.Write([]row{{fmt.Sprint("text ", i), fmt.Sprint(i)}}); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}
