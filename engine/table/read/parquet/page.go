package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/format"
)

// openChunk opens the values of a column of row group number, whose data lie before end in the file.
func openChunk(c *parquet.Column, number int, chunk *format.ColumnChunk, file io.ReaderAt, end int64) (*pageReader, error) {
	m := &chunk.MetaData
	start := m.DataPageOffset
	if m.DictionaryPageOffset > 0 {
		start = min(start, m.DictionaryPageOffset)
	}
	switch {
	case chunk.FilePath != "":
		return nil, fmt.Errorf("row group %d: its data are in another file, which is not supported", number)
	case chunk.CryptoMetadata.Value != nil:
		return nil, fmt.Errorf("row group %d: its data are encrypted, which is not supported", number)
	case m.NumValues > 0 && (start < 4 || start > end):
		return nil, fmt.Errorf("row group %d: its data begin at byte %d, where the file has data from byte 4 to byte %d", number, start, end)
	}
	return &pageReader{group: number, typ: c.Type(), defines: levels(c.MaxDefinitionLevel()), repeats: levels(c.MaxRepetitionLevel()), codec: m.Codec, file: file, at: start, end: end, left: m.NumValues}, nil
}

// maxHeader is the number of bytes of the header of a page that are read at most. It has the least and greatest value.
const maxHeader = 1 << 24

// pageReader reads the pages of a column.
type pageReader struct {
	group   int // its number, for errors
	typ     parquet.Type
	defines levels // definition levels: the greatest level marks a value, lower levels mark missing values
	repeats levels // repetition levels
	codec   format.CompressionCodec
	file    io.ReaderAt
	at, end int64 // the pages that follow
	left    int64 // values of the pages that follow
	pages   int   // number of pages that were begun
	dict    parquet.Dictionary

	rows              int                 // entries of the current page, that are left
	defined, repeated []byte              // levels of these entries; empty if the greatest level is 0
	values            parquet.ValueReader // the values that are not null
}

// levels is the greatest level of the entries of a column.
type levels int

// decode reads the levels of n entries; nil if all are 0.
func (l levels) decode(name string, data []byte, n int) ([]byte, error) {
	if l == 0 {
		return nil, nil
	}
	all, err := (&rle.Encoding{BitWidth: bits.Len(uint(l))}).DecodeLevels(nil, firstRuns(data, bits.Len(uint(l)), n))
	if err != nil || len(all) < n {
		return nil, fmt.Errorf("damaged %s levels", name)
	}
	if most := slices.Max(append(all[:n:n], 0)); most > byte(l) {
		return nil, fmt.Errorf("a %s level %d, the greatest is %d", name, most, l)
	}
	return all[:n], nil
}

// split takes the levels off the front of a page of version 1, where their length is in front.
func (l levels) split(name string, e format.Encoding, data []byte) (of, rest []byte, err error) {
	if l == 0 {
		return nil, data, nil
	}
	if e != format.RLE {
		return nil, nil, fmt.Errorf("%s levels in encoding %s; only RLE is supported", name, named(e))
	}
	if len(data) < 4 {
		return nil, nil, fmt.Errorf("damaged %s levels", name)
	}
	size := uint64(binary.LittleEndian.Uint32(data))
	if data = data[4:]; size > uint64(len(data)) {
		return nil, nil, fmt.Errorf("%d bytes of %s levels, where %d are left", size, name, len(data))
	}
	return data[:size], data[size:], nil
}

// ReadValues reads values of one page.
func (p *pageReader) ReadValues(buf []parquet.Value) (int, error) {
	for p.rows == 0 {
		if p.left <= 0 {
			return 0, io.EOF
		}
		p.pages++
		if err := p.nextPage(); err != nil {
			return 0, fmt.Errorf("row group %d: page %d: %w", p.group, p.pages, err)
		}
	}
	n := min(len(buf), p.rows)
	present := n
	if p.defines > 0 {
		present = bytes.Count(p.defined[:n], []byte{byte(p.defines)})
	}
	for got := 0; got < present; {
		k, err := p.values.ReadValues(buf[got:present])
		if got += k; got < present && (err != nil || k == 0) {
			return 0, fmt.Errorf("row group %d: page %d: its last %d values are missing or damaged", p.group, p.pages, p.rows)
		}
	}
	if present < n || p.repeats > 0 {
		p.spread(buf[:n], present)
	}
	if p.defines > 0 {
		p.defined = p.defined[n:]
	}
	if p.repeats > 0 {
		p.repeated = p.repeated[n:]
	}
	p.rows -= n
	return n, nil
}

// spread moves the values at the front of buf to the entries that are not missing. Entries of lists have levels.
func (p *pageReader) spread(buf []parquet.Value, present int) {
	for i := len(buf) - 1; i >= 0; i-- {
		v := parquet.Value{}
		if p.defines == 0 || p.defined[i] == byte(p.defines) {
			present--
			v = buf[present]
		}
		if p.repeats > 0 {
			v = v.Level(int(p.repeated[i]), int(p.defined[i]), 0)
		}
		buf[i] = v
	}
}

// nextPage reads a page of data, or the dictionary before it.
func (p *pageReader) nextPage() (err error) {
	defer func() {
		if recover() != nil { // the library does not check all of its input
			err = errors.New("damaged values")
		}
	}()
	h, err := p.header()
	if err != nil {
		return err
	}
	size := int64(h.CompressedPageSize)
	if size < 0 || h.UncompressedPageSize < 0 || size > p.end-p.at {
		return fmt.Errorf("a page of %d bytes, %d uncompressed, where %d are left", size, h.UncompressedPageSize, p.end-p.at)
	}
	data := make([]byte, size)
	if _, err := p.file.ReadAt(data, p.at); err != nil {
		return err
	}
	p.at += size
	if h.CRC != 0 && uint32(h.CRC) != crc32.ChecksumIEEE(data) {
		return errors.New("the checksum is wrong")
	}
	switch {
	case h.DictionaryPageHeader.Valid:
		return p.readDictionary(&h, data)
	case h.DataPageHeader.Valid:
		return p.readData(&h, data)
	case h.DataPageHeaderV2.Valid:
		return p.readDataV2(&h, data)
	}
	return nil // a page of an index
}

// header reads the header of the next page, whose length is unknown.
func (p *pageReader) header() (h format.PageHeader, err error) {
	for size := int64(1 << 8); ; size *= 16 {
		data := make([]byte, min(size, p.end-p.at))
		if _, err := p.file.ReadAt(data, p.at); err != nil {
			return h, err
		}
		n, err := decodeStruct(data, &h)
		p.at += int64(n)
		if err == nil || size >= maxHeader || int64(len(data)) < size {
			return h, err
		}
	}
}

func (p *pageReader) readDictionary(h *format.PageHeader, data []byte) error {
	data, err := decompress(p.codec, data, int(h.UncompressedPageSize))
	if err != nil {
		return err
	}
	n := int(h.DictionaryPageHeader.V.NumValues)
	values, err := p.decode(data, n, format.Plain)
	if err == nil {
		p.dict = p.typ.NewDictionary(0, n, values)
	}
	return err
}

// readData reads a page of version 1: its levels are compressed with the values, and have
// their length in front.
func (p *pageReader) readData(h *format.PageHeader, data []byte) error {
	data, err := decompress(p.codec, data, int(h.UncompressedPageSize))
	if err != nil {
		return err
	}
	d := &h.DataPageHeader.V
	repeated, data, err := p.repeats.split("repetition", d.RepetitionLevelEncoding, data)
	if err != nil {
		return err
	}
	defined, data, err := p.defines.split("definition", d.DefinitionLevelEncoding, data)
	if err != nil {
		return err
	}
	return p.start(int(d.NumValues), repeated, defined, data, d.Encoding)
}

// readDataV2 reads a page of version 2: its levels are not compressed.
func (p *pageReader) readDataV2(h *format.PageHeader, data []byte) error {
	d := &h.DataPageHeaderV2.V
	before, size := int(d.RepetitionLevelsByteLength), int(d.DefinitionLevelsByteLength)
	if before < 0 || size < 0 || before+size > len(data) {
		return fmt.Errorf("levels of %d and %d bytes in a page of %d", before, size, len(data))
	}
	repeated, defined, data := data[:before], data[before:before+size], data[before+size:]
	if !d.IsCompressed.Valid || d.IsCompressed.V {
		var err error
		if data, err = decompress(p.codec, data, int(h.UncompressedPageSize)-before-size); err != nil {
			return err
		}
	}
	return p.start(int(d.NumValues), repeated, defined, data, d.Encoding)
}

// start begins a page of n values, missing values included.
func (p *pageReader) start(n int, repeated, defined, data []byte, e format.Encoding) (err error) {
	if n < 0 || int64(n) > p.left {
		return fmt.Errorf("a page of %d values in a row group with %d more", n, p.left)
	}
	if n > mostValues {
		return fmt.Errorf("a page of %d values, which may have at most %d", n, mostValues)
	}
	p.left -= int64(n)
	p.rows = n
	present := n
	if p.repeated, err = p.repeats.decode("repetition", repeated, n); err != nil {
		return err
	}
	if p.defined, err = p.defines.decode("definition", defined, n); err != nil {
		return err
	}
	if p.defines > 0 {
		present = bytes.Count(p.defined, []byte{byte(p.defines)})
	}
	if present == 0 {
		return nil // the header of its values may be missing
	}
	const older format.Encoding = 2 // name of RLEDictionary before version 2
	if e == format.RLEDictionary || e == older {
		if p.dict == nil {
			return errors.New("a page without its dictionary")
		}
		if len(data) > 0 {
			data = append(data[:1:1], firstRuns(data[1:], int(data[0]), present)...)
		}
		indexes, err := parquet.RLEDictionary.DecodeInt32(nil, data)
		if err != nil {
			return errors.New("damaged indexes of a dictionary")
		}
		p.values = &entryReader{p.dict, indexes}
		return nil
	}
	values, err := p.decode(data, present, e)
	if err == nil {
		p.values = p.typ.NewPage(0, present, values).Values()
	}
	return err
}

// decode decodes n values.
func (p *pageReader) decode(data []byte, n int, e format.Encoding) (v encoding.Values, err error) {
	if n < 0 || n > mostValues {
		return v, fmt.Errorf("%d values, where at most %d are possible", n, mostValues)
	}
	kind := p.typ.Kind()
	switch {
	case e == format.RLE:
		data = firstBooleans(data, n)
	case e == format.DeltaLengthByteArray && kind == parquet.ByteArray:
		return deltaLengths(data, p.rows)
	case e == format.DeltaByteArray && (kind == parquet.ByteArray || kind == parquet.FixedLenByteArray):
		all, ends, err := deltaTexts(data, p.rows)
		if err == nil && kind == parquet.FixedLenByteArray {
			return encoding.FixedLenByteArrayValues(all, p.typ.Length()), sameLength(ends, p.typ.Length())
		}
		return encoding.ByteArrayValues(all, ends), err
	case e == format.DeltaBinaryPacked:
		if _, err := endOfDeltas(data, p.rows); err != nil {
			return v, err
		}
	}
	if e == format.DeltaBinaryPacked && kind == parquet.Int32 { // the library reads no differences of more than 32 bits
		var wide []int64
		wide, err = parquet.DeltaBinaryPacked.DecodeInt64(nil, data)
		narrow := make([]int32, len(wide))
		for i, v := range wide {
			narrow[i] = int32(v) // sums are equal modulo 2^32
		}
		v = encoding.Int32Values(narrow)
	} else {
		if e == format.Plain && kind == parquet.ByteArray {
			data = withoutPadding(data, n)
		}
		code := parquet.LookupEncoding(e)
		v, err = p.typ.Decode(p.typ.NewValues(make([]byte, 0, p.typ.EstimateDecodeSize(n, data, code)), make([]uint32, 0, 1)), data, code)
	}
	switch {
	case errors.Is(err, encoding.ErrNotSupported):
		err = fmt.Errorf("values of type %v in encoding %s, which is not supported", kind, named(e))
	case err != nil:
		err = fmt.Errorf("damaged values of type %v in encoding %s", kind, named(e))
	}
	return v, err
}

// withoutPadding leaves out the bytes behind n texts, each with its length in front.
func withoutPadding(data []byte, n int) []byte {
	at := 0
	for range n {
		if len(data)-at < 4 || uint64(binary.LittleEndian.Uint32(data[at:])) > uint64(len(data)-at-4) {
			return data // the library reports it
		}
		at += 4 + int(binary.LittleEndian.Uint32(data[at:]))
	}
	return data[:at]
}

// named is the name of an encoding or a compression; it has a number if it is unknown.
func named[T interface {
	~int32
	String() string
}](v T) string {
	if name := v.String(); !strings.Contains(name, "?") {
		return name
	}
	return strconv.Itoa(int(v))
}

// entryReader reads entries of a dictionary by their indexes.
type entryReader struct {
	dict    parquet.Dictionary
	indexes []int32
}

func (r *entryReader) ReadValues(buf []parquet.Value) (int, error) {
	n := min(len(buf), len(r.indexes))
	for _, i := range r.indexes[:n] {
		if i < 0 || int(i) >= r.dict.Len() {
			return 0, fmt.Errorf("entry %d of a dictionary with %d", i, r.dict.Len())
		}
	}
	r.dict.Lookup(r.indexes[:n], buf[:n])
	r.indexes = r.indexes[n:]
	return n, nil
}
