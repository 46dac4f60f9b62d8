package build

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"heddle/engine/file/input"
	"heddle/engine/syntax"
)

// InvalidDocuments counts the invalid documents of a build. A document counts once.
type InvalidDocuments struct {
	Encoding uint64       // records with invalid UTF-8 or UTF-16, or with half of a surrogate pair in JSON
	Tabs     uint64       // lines of text that have a TAB, or have none, unlike the first line
	Records  uint64       // unreadable records, for example incorrect JSON; only with InvalidSkip
	Skipped  uint64       // skipped records in all, which are absent from the index
	First    *input.Error // place and reason of the first
}

// Count is the number of invalid documents.
func (d *InvalidDocuments) Count() uint64 { return d.Encoding + d.Tabs + d.Records }

// String lists the counts that are not 0.
func (d *InvalidDocuments) String() string {
	var parts []string
	for _, c := range []struct {
		n    uint64
		name string
	}{{d.Encoding, "with an invalid encoding"}, {d.Tabs, "with a TAB or without, unlike the first line"}, {d.Records, "unreadable"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.name))
		}
	}
	return strings.Join(parts, ", ")
}

// add adds the counts of documents that come later.
func (d *InvalidDocuments) add(later *InvalidDocuments) {
	d.Encoding += later.Encoding
	d.Tabs += later.Tabs
	d.Records += later.Records
	d.Skipped += later.Skipped
	if d.First == nil {
		d.First = later.First
	}
}

// inspect counts a record that is invalid in its encoding or its TAB, and returns the
// reason, or an empty string.
func (d *InvalidDocuments) inspect(text []byte, r record) (reason string) {
	if r.input.json {
		reason = syntax.LoneSurrogate("document", text)
	}
	switch {
	case reason != "":
		d.Encoding++
	case !utf8.Valid(text):
		d.Encoding++
		reason = input.InvalidByte("document", text, r.input.utf16)
	case r.input.lines && r.input.tabs != (bytes.IndexByte(text, '\t') >= 0):
		d.Tabs++
		reason = "a TAB in this line; the first line has none"
		if r.input.tabs {
			reason = "no TAB in this line; the first line has one"
		}
	default:
		return ""
	}
	d.note(r, reason)
	return reason
}

// note keeps the first place.
func (d *InvalidDocuments) note(r record, reason string) {
	if d.First == nil {
		d.First = r.at.Error(r.input.path, reason)
	}
}

// check fails if more than a share of the records is invalid.
func (d *InvalidDocuments) check(records uint64, share float64) error {
	n := d.Count()
	if float64(n) <= share*float64(records) {
		return nil
	}
	e := *d.First
	e.Reason = fmt.Sprintf("%s; %d of %d documents are invalid (%s), the limit is %v %%", e.Reason, n, records, d, 100*share)
	if 2*d.Encoding > n && strings.HasPrefix(d.First.Reason, "invalid UTF-8") {
		e.Reason += "; convert the input to UTF-8"
	}
	return &e
}
