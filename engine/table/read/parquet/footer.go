package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"

	"heddle/engine/file/input"
)

// footer reads the metadata at the end of a file, and gives the end of the data before them.
func footer(path string, r io.ReaderAt, size int64) (f *parquet.File, end int64, err error) {
	wrong := func(reason string) (*parquet.File, int64, error) {
		return nil, 0, &input.Error{Path: path, Offset: -1, Reason: reason}
	}
	var head, tail [8]byte
	if size < int64(len(head)+len(tail)-4) {
		return wrong(fmt.Sprintf("the file has %d bytes, fewer than any Parquet file", size))
	}
	if _, err := r.ReadAt(head[:4], 0); err != nil {
		return nil, 0, err
	}
	if _, err := r.ReadAt(tail[:], size-8); err != nil {
		return nil, 0, err
	}
	first, last := string(head[:4]), string(tail[4:])
	switch {
	case first == "PARE" || last == "PARE":
		return wrong("the file is encrypted, which is not supported")
	case first != "PAR1":
		return wrong(fmt.Sprintf("the file begins with %q; Parquet files begin with PAR1", first))
	case last != "PAR1":
		return wrong(fmt.Sprintf("the file ends with %q; Parquet files end with PAR1", last))
	}
	length := int64(binary.LittleEndian.Uint32(tail[:]))
	if length > size-12 {
		return wrong(fmt.Sprintf("a footer of %d bytes in a file of %d", length, size))
	}
	end = size - 8 - length
	data := make([]byte, length)
	if _, err := r.ReadAt(data, end); err != nil {
		return nil, 0, err
	}
	if data, err = mended(data); err == nil {
		f, err = openFile(&patched{r, end, append(binary.LittleEndian.AppendUint32(data, uint32(len(data))), "PAR1"...)})
	}
	if err != nil {
		return wrong(err.Error())
	}
	return f, end, nil
}

// openFile opens a file with the library, whose errors are of structures that the schema or the format does not allow.
func openFile(p *patched) (f *parquet.File, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("damaged footer")
		}
	}()
	if f, err = parquet.OpenFile(p, p.size+int64(len(p.footer)), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true)); err != nil {
		err = fmt.Errorf("damaged footer: %w", inOurWords(err, "its schema and row groups do not fit each other"))
	}
	return f, err
}

// patched is a file of size bytes before another footer.
type patched struct {
	io.ReaderAt
	size   int64
	footer []byte
}

func (p *patched) ReadAt(b []byte, at int64) (n int, err error) {
	if at < p.size {
		return p.ReaderAt.ReadAt(b, at)
	}
	if at > p.size+int64(len(p.footer)) {
		return 0, io.EOF
	}
	if n = copy(b, p.footer[at-p.size:]); n < len(b) {
		err = io.EOF
	}
	return n, err
}

// deepest is the number of structures and lists in each other that a footer or the header of a page has at most.
// The format has fewer than ten.
const deepest = 32

// signature is the number of bytes behind a footer that names encrypted columns.
const signature = 28

// mended empties the lists of keys and values of a file and its columns, and takes the type of the root of the schema
// away: the library refuses a key without a value, which the format allows, and a root with a type, which some
// writers write.
func mended(footer []byte) (out []byte, err error) {
	w := walker{in: compact.NewReaderFromBytes(footer)}
	if err = w.value(thrift.STRUCT, nil); err != nil {
		return nil, fmt.Errorf("damaged footer: %w", err)
	}
	if n := len(footer) - w.in.BytesRead(); n == signature {
		return nil, errors.New("the file has encrypted columns, which are not supported")
	} else if n != 0 {
		return nil, fmt.Errorf("damaged footer: %d bytes behind its end", n)
	}
	from := 0
	for _, e := range w.edits {
		out = append(append(out, footer[from:e.from]...), e.by...)
		from = e.to
	}
	return append(out, footer[from:]...), nil
}

var compact thrift.CompactProtocol

// decodeStruct decodes the structure at the start of data, which has n bytes.
func decodeStruct(data []byte, v any) (n int, err error) {
	w := walker{in: compact.NewReaderFromBytes(data)}
	if err = w.value(thrift.STRUCT, nil); err == nil {
		n = w.in.BytesRead()
		err = inOurWords(thrift.Unmarshal(&compact, data[:n], v), "a value of the wrong type")
	}
	if err != nil {
		return 0, fmt.Errorf("damaged header: %w", err)
	}
	return n, nil
}

// inOurWords gives an error of the library a text: other if it does not tell more.
func inOurWords(err error, other string) error {
	var missing *thrift.MissingField
	var kind *thrift.TypeMismatch
	switch {
	case err == nil:
		return nil
	case errors.As(err, &missing):
		return fmt.Errorf("a structure without its field %d", missing.Field.ID)
	case errors.As(err, &kind):
		return errors.New("a value of the wrong type")
	}
	return errors.New(other)
}

// walker finds the parts of a footer that the library refuses.
type walker struct {
	in    thrift.BytesReader
	edits []edit
	root  bool // the root of the schema has been passed
}

// edit replaces bytes of a footer.
type edit struct {
	from, to int
	by       []byte
}

// value passes a value. path has the numbers of the fields around it, and 0 for a list.
func (w *walker) value(t thrift.Type, path []int16) (err error) {
	if len(path) > deepest {
		return fmt.Errorf("more than %d structures in each other", deepest)
	}
	switch t {
	case thrift.TRUE, thrift.FALSE:
		if n := len(path); n > 0 && path[n-1] == 0 { // the type of a field is its value
			_, err = w.in.ReadBool()
		}
	case thrift.I8:
		_, err = w.in.ReadInt8()
	case thrift.I16, thrift.I32, thrift.I64:
		_, err = w.in.ReadInt64()
	case thrift.DOUBLE:
		_, err = w.in.ReadFloat64()
	case thrift.BINARY:
		_, err = w.in.ReadBytes()
	case thrift.LIST, thrift.SET:
		return w.list(path)
	case thrift.STRUCT:
		return w.structure(path)
	default:
		return fmt.Errorf("a value of type %d", t)
	}
	return cut(err)
}

func (w *walker) list(path []int16) error {
	start := w.in.BytesRead()
	l, err := w.in.ReadList()
	if err != nil {
		return cut(err)
	}
	for range l.Size {
		if err := w.value(l.Type, append(path, 0)); err != nil {
			return err
		}
	}
	if slices.Equal(path, []int16{5}) || slices.Equal(path, []int16{4, 0, 1, 0, 3, 8}) {
		w.edits = append(w.edits, edit{start, w.in.BytesRead(), []byte{byte(thrift.STRUCT)}}) // a list of no structures
	}
	return nil
}

func (w *walker) structure(path []int16) error {
	root := !w.root && slices.Equal(path, []int16{2, 0})
	w.root = w.root || root
	for id, typed := int16(0), -1; ; { // typed is the start of the type of the root
		start := w.in.BytesRead()
		f, err := w.in.ReadField()
		if err != nil {
			return cut(err)
		}
		if typed >= 0 && f.Delta { // the field behind the type has a greater distance from the one before
			w.edits = append(w.edits, edit{typed, w.in.BytesRead(), []byte{byte(f.ID+id)<<4 | byte(f.Type)}})
		}
		typed = -1
		if f.Type == thrift.STOP {
			return nil
		}
		if f.Delta {
			f.ID += id
		}
		if id = f.ID; root && id == 1 && f.Delta {
			typed = start
		}
		if err := w.value(f.Type, append(path, id)); err != nil {
			return err
		}
	}
}

// cut is the error for bytes that are too few or too large for a number.
func cut(err error) error {
	if err != nil {
		err = errors.New("a value that does not end where it must")
	}
	return err
}
