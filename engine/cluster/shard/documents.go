package shard

import (
	"context"
	"slices"

	"heddle/engine/api"
	"heddle/engine/internal/fetch"
)

// ShardDocuments implements api.ShardServiceHandler.
func (h handler) ShardDocuments(ctx context.Context, m *api.ShardDocumentsRequest) (*api.ShardDocumentsResponse, error) {
	numbers, lists := make([]uint32, len(m.GetMore())), []fetch.List{{Docs: m.GetDocs(), Of: m.GetOf()}}
	for i, part := range m.GetMore() {
		numbers[i], lists = part.GetShard(), append(lists, fetch.List{Docs: part.GetDocs(), Of: part.GetOf()})
	}
	r, wrong := fetchOf(m.GetFetch())
	one := func(i int, t *api.ShardTarget) ([]fetch.Document, error) {
		return use(h, t, func(x *pinned) ([]fetch.Document, error) {
			if wrong != nil {
				return nil, wrong
			}
			return x.Documents(ctx, r, lists[i])
		})
	}
	if len(numbers) == 0 {
		all, err := one(0, m.GetTarget())
		return documentsMessage(all, m.GetFetch() != nil), err
	}
	targets, err := group(m.GetTarget(), numbers)
	if err != nil {
		return nil, err
	}
	have, all, err := together(targets, one)
	out := documentsMessage(slices.Concat(all...), m.GetFetch() != nil)
	out.Shards = have
	return out, err
}

// ShardFind implements api.ShardServiceHandler.
func (h handler) ShardFind(ctx context.Context, m *api.ShardFindRequest) (*api.ShardFindResponse, error) {
	return use(h, m.GetTarget(), func(x *pinned) (*api.ShardFindResponse, error) {
		doc, found, err := x.Find(ctx, m.GetName())
		if !found {
			return &api.ShardFindResponse{}, err
		}
		return &api.ShardFindResponse{Doc: &doc}, err
	})
}

// FetchMessage is the message of a request.
func FetchMessage(r *fetch.Request) *api.ShardFetch {
	m := &api.ShardFetch{Fields: r.Members, Source: r.Source, Attributes: r.Attributes, Lenient: r.Lenient}
	if s := r.Snippet; s != nil {
		m.Snippet = &api.Snippet{Size: uint32(s.Size), Mark: s.Mark[:], Escape: "none"}
		if s.Escape {
			m.Snippet.Escape = "html"
		}
	}
	for _, q := range r.Queries {
		m.Queries = append(m.Queries, &api.ShardFetchQuery{Text: q.Text, Literal: q.Literal, Terms: q.Terms, PrefixLength: uint32(q.Fixed)})
	}
	return m
}

// fetchOf is the request of a message.
func fetchOf(m *api.ShardFetch) (r *fetch.Request, err error) {
	r = &fetch.Request{Ask: fetch.Ask{Members: m.GetFields(), Source: m.GetSource(), Attributes: m.GetAttributes(), Lenient: m.GetLenient()}}
	if r.Snippet, err = api.SnippetOf(m.GetSnippet()); err != nil {
		return nil, invalidOption("fetch", "%w", err)
	}
	for _, q := range m.GetQueries() {
		r.Queries = append(r.Queries, fetch.Query{Text: q.GetText(), Literal: q.GetLiteral(), Terms: q.GetTerms(), Fixed: int(q.GetPrefixLength())})
	}
	return r, nil
}

// documentsMessage is the message of documents, with their names alone or with contents.
func documentsMessage(all []fetch.Document, contents bool) *api.ShardDocumentsResponse {
	m := &api.ShardDocumentsResponse{Names: make([]string, len(all))}
	for i := range all {
		if m.Names[i] = all[i].Name; contents {
			m.Contents = append(m.Contents, api.ContentsOf(&all[i]))
		}
	}
	return m
}

// DocumentsOf is the documents of a message, with as many names as contents.
func DocumentsOf(m *api.ShardDocumentsResponse) []fetch.Document {
	all := make([]fetch.Document, len(m.GetNames()))
	for i, c := range m.GetContents() {
		all[i] = fetch.Document{Name: m.Names[i], Members: text(c.GetFields()), Source: text(c.GetSource()), Snippet: c.GetSnippet(), Attributes: text(c.GetAttributes())}
	}
	return all
}

// text is a JSON text; nil for none.
func text(s string) []byte {
	if s == "" {
		return nil
	}
	return []byte(s)
}
