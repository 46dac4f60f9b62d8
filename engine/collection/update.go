package collection

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"heddle/engine/index/build/records"
	"heddle/engine/index/hdl"
)

// Patch reads lines with changes of documents, and writes the whole documents for Add. A line is an object with the
// name of a document; its members replace the members of the stored source, null removes one, and objects are changed
// member by member (RFC 7396). missing counts the lines whose document the collection does not have.
func (w *Writer) Patch(lines io.Reader, to io.Writer) (missing uint64, err error) {
	set := w.Manifest().Settings
	if set.Store != hdl.StoreSource {
		return 0, ErrSource
	}
	in, seen := bufio.NewReader(lines), map[string]bool{}
	for number, more := 1, true; more; number++ {
		line, err := in.ReadBytes('\n')
		if more = err == nil; err != nil && err != io.EOF {
			return missing, err
		}
		if len(strings.TrimSpace(string(line))) == 0 {
			continue
		}
		fail := func(format string, args ...any) error {
			return fmt.Errorf("-:%d: %w: %s", number, ErrDocuments, fmt.Sprintf(format, args...))
		}
		var change map[string]any
		if err := decode(line, &change); err != nil || change == nil {
			return missing, fail("a line is an object of JSON: %v", err)
		}
		name := nameOf(change, set.ID)
		switch {
		case name == "":
			return missing, fail("the name of the document is missing")
		case seen[name]:
			return missing, fail("document %.60q occurs twice", name)
		}
		seen[name] = true
		source, found, err := w.Source(name)
		if err != nil {
			return missing, err
		}
		if !found {
			missing++
			continue
		}
		var document map[string]any
		if err := decode([]byte(source), &document); err != nil {
			return missing, err
		}
		whole, err := json.Marshal(patch(document, change))
		if err == nil {
			_, err = to.Write(append(whole, '\n'))
		}
		if err != nil {
			return missing, err
		}
	}
	return missing, nil
}

// decode reads JSON; numbers stay as they are written.
func decode(text []byte, to *map[string]any) error {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	return d.Decode(to)
}

// nameOf returns the name of a document: of the member id, or of the members that name documents.
func nameOf(document map[string]any, id string) string {
	namers := records.Namers()
	if id != "" {
		namers = []string{id}
	}
	for _, namer := range namers {
		for _, member := range slices.Sorted(maps.Keys(document)) {
			if strings.EqualFold(member, namer) {
				switch v := document[member].(type) {
				case string, json.Number:
					return fmt.Sprint(v)
				}
			}
		}
	}
	return ""
}

// patch changes a document.
func patch(document, change map[string]any) map[string]any {
	if document == nil {
		document = map[string]any{}
	}
	for member, v := range change {
		switch v := v.(type) {
		case nil:
			delete(document, member)
		case map[string]any:
			old, _ := document[member].(map[string]any)
			document[member] = patch(old, v)
		default:
			document[member] = v
		}
	}
	return document
}
