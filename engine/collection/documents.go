package collection

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"

	"heddle/engine/file/mapped"
	"heddle/engine/index/hdl"
)

// ErrStore is the error of WriteDocuments for a collection that does not store its documents.
var ErrStore = errors.New("the collection stores no texts, or it has attributes without stored sources: make it with --store source")

// WriteDocuments writes the documents of the newest state as JSON lines, from which Add makes the collection again:
// the stored sources, or members id and text of stored texts. It returns their number.
func WriteDocuments(ctx context.Context, dir string, to io.Writer) (n uint64, err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	m, all, err := openAll(dir)
	if err != nil {
		return 0, err
	}
	defer func() {
		for _, s := range all {
			err = errors.Join(err, s.close())
		}
	}()
	if set := &m.Settings; set.Store != hdl.StoreSource && (set.Store != hdl.StoreText || set.Attributes != nil) {
		return 0, ErrStore
	}
	out := bufio.NewWriterSize(to, 1<<16)
	for _, s := range all {
		doc := uint32(0)
		if err := s.index.EachDocument(0, uint32(s.Docs), func(text []byte) error {
			d := doc
			if doc++; s.deleted.Contains(d) {
				return nil
			}
			if n++; n%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			return s.writeDocument(out, d, text, m.Settings.Store == hdl.StoreSource)
		}); err != nil {
			return n, err
		}
	}
	return n, out.Flush()
}

// writeDocument writes a line.
func (s *segment) writeDocument(out *bufio.Writer, doc uint32, text []byte, source bool) error {
	if source {
		_, err := out.Write(append(text[:len(text):len(text)], '\n'))
		return err
	}
	name, err := s.index.DocName(doc)
	if err != nil {
		return err
	}
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e.Encode(struct {
		ID   string `json:"id"`
		Text string `json:"text"`
	}{name, string(text)})
}

// openAll opens the segments of the newest state.
func openAll(dir string) (m *Manifest, all []*segment, err error) {
	for {
		if m, err = Read(dir); err != nil {
			return nil, nil, err
		}
		if all, err = m.open(dir); err == nil {
			return m, all, nil
		}
		if again, wrong := Read(dir); !errors.Is(err, fs.ErrNotExist) || wrong != nil || again.Epoch == m.Epoch {
			return nil, nil, err
		} // a change has removed a file meanwhile
	}
}

// open opens the segments of a state: their indexes and bitmaps.
func (m *Manifest) open(dir string) (all []*segment, err error) {
	for _, one := range m.Segments {
		s := &segment{Segment: one, dir: dir}
		all = append(all, s)
		if _, err = s.part(); err != nil {
			for _, s := range all {
				err = errors.Join(err, s.close())
			}
			return nil, err
		}
	}
	return all, nil
}
