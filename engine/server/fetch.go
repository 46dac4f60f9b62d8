package server

import (
	"cmp"
	"context"
	"math"
	"reflect"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/internal/coordinator"
	"heddle/engine/internal/fetch"
	"heddle/engine/server/problem"
)

// contents are the members of a query that ask for parts of documents.
type contents interface {
	GetFields() []string
	GetSource() bool
	GetSnippet() *api.Snippet
	GetAttributes() []string
}

// fields returns the parts of documents that a query on an index asks for; nil for none. It returns last if that asks
// for the same parts, so that queries of a batch share it.
func (s *Server) fields(index string, r contents, last *engine.Fields) (*engine.Fields, error) {
	if len(r.GetFields()) == 0 && !r.GetSource() && r.GetSnippet() == nil && len(r.GetAttributes()) == 0 {
		return nil, nil
	}
	f := &engine.Fields{Members: r.GetFields(), Source: r.GetSource(), Attributes: r.GetAttributes()}
	snippet, err := api.SnippetOf(r.GetSnippet())
	if err != nil {
		return nil, problem.BadRequest(err)
	}
	if snippet != nil {
		f.Snippet = (*engine.Snippet)(snippet)
	}
	ask := f.Internal()
	if err := ask.Validate(); err != nil {
		return nil, problem.BadRequest(err)
	}
	if len(f.Attributes) > 0 {
		if f.Table, err = s.attributes(index, ""); err != nil {
			return nil, err
		}
	}
	if last != nil && reflect.DeepEqual(f, last) {
		return last, nil
	}
	return f, nil
}

// taking takes the memory of documents.
func taking(ctx context.Context) func(int64) error {
	return func(n int64) error { return problem.Take(ctx, n) }
}

// perFetch is the number of documents that are read before their memory is taken.
const perFetch = 16

// documents returns the documents of an answer, with the parts that q.Fields asks for.
func documents(ctx context.Context, x *engine.Snapshot, q *engine.Query, docs []uint32) (all []engine.Contents, err error) {
	for len(docs) > 0 {
		n := min(len(docs), perFetch)
		some, err := x.Documents(ctx, *q, docs[:n], *q.Fields)
		if err != nil {
			return nil, err
		}
		for i := range some {
			if err := problem.Take(ctx, some[i].Bytes()); err != nil {
				return nil, err
			}
		}
		all, docs = append(all, some...), docs[n:]
	}
	return all, nil
}

// setContents sets the parts of a hit.
func setContents(h *api.Hit, d *engine.Contents) {
	h.Fields, h.Source, h.Snippet, h.Attributes = string(d.Members), string(d.Source), d.Snippet, string(d.Attributes)
}

// GetDocument implements api.IndexServiceHandler.
func (i indexService) GetDocument(ctx context.Context, r *api.GetDocumentRequest) (*api.StoredDocument, error) {
	d, id, err := i.document(ctx, r.GetIndex(), r.GetName())
	if err != nil {
		return nil, err
	}
	return &api.StoredDocument{Name: d.Name, Id: id, Source: string(d.Source), Attributes: string(d.Attributes)}, nil
}

func (i indexService) document(ctx context.Context, index, name string) (d engine.Contents, id uint64, err error) {
	if remote := i.s.remoteOf(index); remote != nil {
		id, d, err = remote.Document(ctx, index, name, &fetch.Ask{Source: true, Attributes: []string{"*"}, Lenient: true, Take: taking(ctx)})
		return d, id, err
	}
	x, err := i.s.snapshot(index)
	if err != nil {
		return d, 0, err
	}
	defer x.Close()
	f := engine.Fields{Source: x.File().HasDocuments()}
	if t, err := i.s.tables.Get(index); err == nil {
		if info, err := t.Info(); err == nil && info.Rows == x.Source().Docs { // else another table has the name of the index
			f.Table, f.Attributes = t, []string{"*"}
		}
	}
	doc, d, err := x.Document(ctx, name, f)
	if engine.CodeOf(err) == engine.NotFound {
		err = coordinator.NoDocument(index, name) // without the path of the file
	}
	if err == nil {
		err = problem.Take(ctx, d.Bytes())
	}
	return d, uint64(doc), err
}

const (
	defaultNames = 100
	mostNames    = 10_000
)

// ListDocuments implements api.IndexServiceHandler.
func (i indexService) ListDocuments(ctx context.Context, r *api.ListDocumentsRequest) (*api.ListDocumentsResponse, error) {
	most := int(cmp.Or(r.GetLimit(), defaultNames))
	if err := problem.Within("documents", most, min(mostNames, i.s.limits().Documents)); err != nil {
		return nil, err
	}
	if err := problem.Take(ctx, messageBytes*int64(most)); err != nil {
		return nil, err
	}
	out := &api.ListDocumentsResponse{}
	var next uint64
	if remote := i.s.remoteOf(r.GetIndex()); remote != nil {
		ids, names, behind, err := remote.ListDocuments(ctx, r.GetIndex(), r.GetFrom(), most)
		if err != nil {
			return nil, err
		}
		next = behind
		for n, id := range ids {
			out.Documents = append(out.Documents, &api.Document{Doc: names[n], Id: id})
		}
	} else {
		x, err := i.s.snapshot(r.GetIndex())
		if err != nil {
			return nil, err
		}
		defer x.Close()
		for doc := min(r.GetFrom(), math.MaxUint32); doc < uint64(x.Source().Docs); doc++ {
			if len(out.Documents) == most {
				next = doc
				break
			}
			name, err := docName(x.File(), uint32(doc))
			if err != nil {
				return nil, err
			}
			out.Documents = append(out.Documents, &api.Document{Doc: name, Id: doc})
		}
	}
	if next > 0 {
		out.Next = &next
	}
	return out, nil
}
