package part

import (
	"context"
	"errors"

	"heddle/engine/failure"
	"heddle/engine/file/mapped"
	"heddle/engine/internal/fetch"
	"heddle/engine/internal/filter"
	"heddle/engine/internal/tables"
)

// Documents returns documents of the part.
func (p *Part) Documents(ctx context.Context, r *fetch.Request, l fetch.List) ([]fetch.Document, error) {
	var in filter.Compiler
	defer in.Release()
	var t *tables.Generation
	if len(r.Attributes) > 0 && p.Attributes != nil {
		var err error
		if t, err = in.Open(p.Attributes); err != nil {
			return nil, failure.Wrap("fetch", err)
		}
	}
	return fetch.Read(ctx, p.Generation, t, r, l)
}

// Alive reports whether a document is not deleted.
func (p *Part) Alive(doc uint32) bool { return p.Live == nil || p.Live.Filter.Bitmap.Contains(doc) }

// Find returns the first document with a name, of those that are not deleted. The first call reads all names of the file
// (hdl.File.WithName).
func (p *Part) Find(ctx context.Context, name string) (doc uint32, found bool, err error) {
	defer func() { err = failure.Wrap("find document", err) }()
	if p.File == nil {
		return 0, false, &failure.Error{Code: failure.Unsupported, Op: "find document", Err: errors.New("an index in memory has no names")}
	}
	for d, err := range p.File.WithName(ctx, name) {
		if err != nil || p.Alive(d) {
			return d, err == nil, err
		}
	}
	return 0, false, nil
}

// Listed is a document and its name.
type Listed struct {
	Doc  uint32
	Name string
}

// List returns the first documents from a number on, at most a number of them, that are not deleted.
func (p *Part) List(from uint32, most int) (all []Listed, err error) {
	defer func() { err = failure.Wrap("list documents", err) }()
	defer mapped.Catch(mapped.Watch(), &err)
	if p.File == nil {
		return nil, &failure.Error{Code: failure.Unsupported, Op: "list documents", Err: errors.New("an index in memory has no names")}
	}
	for d, name := range p.File.Names(from) {
		if len(all) == most {
			break
		}
		if p.Alive(d) {
			all = append(all, Listed{d, fetch.Valid(name)})
		}
	}
	return all, nil
}
