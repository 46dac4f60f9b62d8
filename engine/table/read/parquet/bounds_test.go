package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/format"
	"pgregory.net/rapid"

	"heddle/engine/table/read/readtest"
)

// TestFirstRuns: the library reads the same first numbers from runs that were cut, and few further ones.
func TestFirstRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 20).Draw(t, "width")
		var data []byte
		for range rapid.IntRange(1, 6).Draw(t, "runs") {
			count, packed := rapid.IntRange(0, 40).Draw(t, "count"), rapid.IntRange(0, 1).Draw(t, "packed")
			size := (width + 7) / 8
			if packed == 1 || count == 0 {
				size = count * width
			}
			data = binary.AppendUvarint(data, uint64(count)<<1|uint64(packed))
			data = append(data, rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "bytes")...)
			if packed == 0 && count > 0 {
				data[len(data)-1] &= byte(1<<(width-8*(size-1)) - 1)
			}
		}
		e := &rle.Encoding{BitWidth: width}
		all, err := e.DecodeInt32(nil, append(data, make([]byte, 64)...)[:len(data)])
		if err != nil {
			t.Fatal(err)
		}
		n := rapid.IntRange(0, len(all)).Draw(t, "n")
		got, err := e.DecodeInt32(nil, firstRuns(data, width, n))
		if err != nil || len(got) < n || len(got) > n+7 || !slices.Equal(got[:n], all[:n]) {
			t.Fatalf("%d of %v: %v, %v", n, all, got, err)
		}
	})
}

// TestBombs: pages whose few bytes claim to be very many need little memory.
func TestBombs(t *testing.T) {
	const n = 10
	run := binary.AppendUvarint(nil, (1<<31-2)<<1) // equal values
	one := parquet.Int32Type
	page := func(typ parquet.Type, e format.Encoding, data ...byte) func() error {
		return func() error {
			p := pageReader{typ: typ, left: 1 << 40, dict: one.NewDictionary(0, 1, encoding.Int32Values([]int32{7}))}
			if err := p.start(n, nil, nil, data, e); err != nil {
				return err
			}
			got, err := p.ReadValues(make([]parquet.Value, n+1))
			if err == nil && got != n {
				err = fmt.Errorf("%d values", got)
			}
			return err
		}
	}
	compressed := func(c format.CompressionCodec, data []byte, size int) func() error {
		return func() error { _, err := decompress(c, data, size); return err }
	}
	zeros := make([]byte, 1<<24)
	var zipped, brotlied bytes.Buffer
	z, b := gzip.NewWriter(&zipped), brotli.NewWriterLevel(&brotlied, 1)
	z.Write(zeros)
	z.Close()
	b.Write(zeros)
	b.Close()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	packed := w.EncodeAll(zeros, nil)
	if _, err := zstdReader(); err != nil {
		t.Fatal(err)
	}
	delta := append([]byte{0x80, 1, 4}, binary.AppendUvarint(nil, 1<<31-1)...)
	delta = append(delta, make([]byte, 20)...)
	texts := func(e format.Encoding, parts ...[]byte) func() error {
		return page(parquet.ByteArrayType, e, slices.Concat(parts...)...)
	}
	lengths := func(first, others int32) []byte {
		data, err := parquet.DeltaBinaryPacked.EncodeInt32(nil, append([]int32{first}, slices.Repeat([]int32{others}, n-1)...))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	fewer, err := parquet.DeltaBinaryPacked.EncodeInt32(nil, make([]int32, n-1))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		do   func() error
		want string // part of the error
	}{
		"indexes":  {page(one, format.RLEDictionary, append(append([]byte{1}, run...), 0)...), ""},
		"no bits":  {page(one, format.RLEDictionary, append(append([]byte{0}, run...), 0)...), ""},
		"groups":   {page(one, format.RLEDictionary, append([]byte{0}, run[0]|1, run[1], run[2], run[3], run[4])...), ""},
		"booleans": {page(parquet.BooleanType, format.RLE, append(append([]byte{6, 0, 0, 0}, run...), 1)...), ""},
		"levels": {func() error {
			got, err := levels(1).decode("definition", append(slices.Clone(run), 1), n)
			if err == nil && len(got) != n {
				err = fmt.Errorf("%d levels", len(got))
			}
			return err
		}, ""},
		"int32":   {page(one, format.DeltaBinaryPacked, delta...), "differences of 2147483647 values in a page of 10"},
		"int64":   {page(parquet.Int64Type, format.DeltaBinaryPacked, delta...), "differences of 2147483647 values in a page of 10"},
		"texts":   {page(parquet.ByteArrayType, format.DeltaLengthByteArray, delta...), "differences of 2147483647 values in a page of 10"},
		"lengths": {texts(format.DeltaLengthByteArray, lengths(1<<31-1, 1<<31-1)), "a text of 2147483647 bytes, where 0 are left"},
		"length":  {texts(format.DeltaLengthByteArray, lengths(0, -1)), "a text of -1 bytes, where 0 are left"},
		"fronts":  {texts(format.DeltaByteArray, delta), "differences of 2147483647 values in a page of 10"},
		"rests":   {texts(format.DeltaByteArray, lengths(0, 0), delta), "differences of 2147483647 values in a page of 10"},
		"fewer":   {texts(format.DeltaByteArray, lengths(0, 0), fewer), "damaged differences"},
		"front":   {texts(format.DeltaByteArray, lengths(0, 1<<31-1), lengths(5, 0), zeros[:5]), "a text has its first 2147483647 bytes of a text of 5"},
		"front2":  {texts(format.DeltaByteArray, lengths(0, -1), lengths(5, 0), zeros[:5]), "a text has its first -1 bytes of a text of 5"},
		"rest":    {texts(format.DeltaByteArray, lengths(0, 0), lengths(1<<31-1, 0), zeros[:5]), "a text of 2147483647 bytes, where 5 are left"},
		"copies":  {texts(format.DeltaByteArray, lengths(0, 1<<25), lengths(1<<25, 0), make([]byte, 1<<25)), "a page with texts of more than 268435456 bytes"},
		"copy":    {texts(format.DeltaByteArray, lengths(0, 1<<16), lengths(1<<16, 0), zeros[:1<<16]), ""},
		"page": {func() error {
			return (&pageReader{typ: one, left: 1 << 40}).start(1<<31-1, nil, nil, nil, format.Plain)
		}, "a page of 2147483647 values, which may have at most 67108864"},
		"gzip":    {compressed(format.Gzip, zipped.Bytes(), 1000), "instead of 1000 bytes"},
		"zstd":    {compressed(format.Zstd, packed, 1000), "instead of 1000 bytes"},
		"large":   {compressed(format.Zstd, packed[:9], 1<<31-1), "instead of 2147483647 bytes"},
		"brotli":  {compressed(format.Brotli, brotlied.Bytes(), 1000), "instead of 1000 bytes"},
		"snappy":  {compressed(format.Snappy, binary.AppendUvarint(nil, 1<<31), 1000), "instead of 1000 bytes"},
		"snappy2": {compressed(format.Snappy, binary.AppendUvarint(nil, 1<<31-1), 1<<31-1), "instead of 2147483647 bytes"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := c.do()
		runtime.ReadMemStats(&after)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
		if most := uint64(8 << 20); after.TotalAlloc-before.TotalAlloc > most {
			t.Errorf("%s allocates %d bytes, want at most %d", name, after.TotalAlloc-before.TotalAlloc, most)
		}
	}
}

// TestTypedRoot reads a file whose schema has a root with a type, as some writers write it.
func TestTypedRoot(t *testing.T) {
	type row struct {
		N int64 `parquet:"n"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b)
	if _, err := w.Write([]row{{7}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	data := b.Bytes()
	length := int(binary.LittleEndian.Uint32(data[len(data)-8:]))
	before, footer := data[:len(data)-8-length], data[len(data)-8-length:len(data)-8]
	const root = 4 // behind the version, and the head of the list of the schema
	if footer[0] != 0x15 || footer[2] != 0x19 || footer[3] != 0x2c || footer[root]>>4 < 2 {
		t.Fatalf("footer %x", footer)
	}
	typed := slices.Concat(before, footer[:root], []byte{0x15, 0, footer[root] - 0x10}, footer[root+1:])
	typed = append(binary.LittleEndian.AppendUint32(typed, uint32(length+2)), "PAR1"...)
	s, err := Open(t.Context(), []string{readtest.Write(t, "x.parquet", string(typed))}, Options{})
	if got, err := readtest.ReadAll(t, s, err); err != nil || fmt.Sprint(got.Rows) != "[[7]]" {
		t.Errorf("%v, error %v", got.Rows, err)
	}
}
