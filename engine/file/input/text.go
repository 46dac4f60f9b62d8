package input

import (
	"bufio"
	"bytes"

	"golang.org/x/text/encoding/unicode"
)

// Mark is the byte order mark of UTF-8.
const Mark = "\ufeff"

// SkipMark drops a byte order mark if it comes next, and returns its number of bytes.
func (r *Reader) SkipMark() int {
	if head, _ := r.Peek(len(Mark)); string(head) != Mark {
		return 0
	}
	n, _ := r.Discard(len(Mark)) // cannot fail on buffered bytes
	return n
}

// Text prepares the input at path for reading as UTF-8, before the first byte is read. It
// drops a byte order mark and returns its number of bytes. With the mark of UTF-16, it
// converts the input: halves of surrogate pairs become U+FFFD. It refuses other
// encodings with a mark, formats that are no text and known by their first bytes, and
// text with many zero bytes. The error is an *Error.
func (r *Reader) Text(path string) (skipped int, err error) {
	head, _ := r.Peek(headSize)
	if reason := refused(head); reason != "" {
		return 0, &Error{Path: path, Reason: reason}
	}
	if isUTF16(head) {
		utf8 := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Reader(r.Reader)
		r.Reader = bufio.NewReaderSize(utf8, Buffer)
		return 0, nil
	}
	return r.SkipMark(), nil
}

// isUTF16 reports whether head starts with the byte order mark of UTF-16.
func isUTF16(head []byte) bool {
	return bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff"))
}

const (
	headSize  = 4 << 10 // bytes by which Text recognises formats
	zeroShare = 16      // more than one zero in so many bytes are many
)

// Advice for formats that hold text.
const (
	unpack  = ": unpack it first"
	extract = ": extract its text first, for example as JSON lines"
)

// foreign are formats that Text refuses, by their first bytes.
var foreign = []struct{ magic, name string }{
	{"\xff\xfe\x00\x00", "text in UTF-32: convert it to UTF-8"},
	{"\x00\x00\xfe\xff", "text in UTF-32: convert it to UTF-8"},
	{"\x1f\x8b", "gzip data inside compressed data" + unpack},
	{"\x28\xb5\x2f\xfd", "zstd data inside compressed data" + unpack},
	{"\xfd7zXZ\x00", "xz data" + unpack},
	{"\x04\x22\x4d\x18", "LZ4 data" + unpack},
	{"\x1f\x9d", "data of compress (.Z)" + unpack},
	{"7z\xbc\xaf\x27\x1c", "a 7z archive" + unpack},
	{"Rar!\x1a\x07", "a RAR archive" + unpack},
	{"PK\x03\x04", "a ZIP archive, or a document in one (docx, odt, epub)" + unpack},
	{"PK\x05\x06", "an empty ZIP archive"},
	{"WARC/", "a web archive (WARC)" + extract},
	{"%PDF-", "a PDF document" + extract},
	{"%!PS", "a PostScript document" + extract},
	{`{\rtf`, "a document in rich text format (RTF)" + extract},
	{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a document of Microsoft Office" + extract},
	{"PAR1\x15", "a Parquet file: bitmap build reads it as a table"},
	{"ARROW1\x00\x00", "an Arrow file: convert it to Parquet for bitmap build"},
	{"Obj\x01", "an Avro file" + extract},
	{"SQLite format 3\x00", "an SQLite database" + extract},
	{"\x89HDL\r\n\x1a\n", "an index file of heddle"},
	{"\x89HDB\r\n\x1a\n", "a table file of heddle"},
	{"\x89PNG\r\n\x1a\n", "a PNG image"},
	{"\xff\xd8\xff", "a JPEG image"},
	{"\x7fELF", "an executable file"},
}

// tarMagic stands behind the name and numbers of the first file in a tar archive.
const tarMagic = "ustar"

// refused is the reason to refuse an input that starts with head, or empty.
func refused(head []byte) string {
	for _, f := range foreign {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return f.name
		}
	}
	const tarOffset = 257
	if len(head) > tarOffset && bytes.HasPrefix(head[tarOffset:], []byte(tarMagic)) {
		return "a tar archive" + unpack
	}
	if zeros := bytes.Count(head, []byte{0}); !isUTF16(head) && zeros > 1 && zeros*zeroShare > len(head) {
		return "many zero bytes: binary data, or UTF-16 without a byte order mark"
	}
	return ""
}
