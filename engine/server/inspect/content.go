package inspect

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/index/inventory"
)

// content is the content of an index: an index file, or the segments of a collection.
type content struct {
	parts []*engine.Snapshot         // one for an index file; at least one for a collection
	all   *engine.CollectionSnapshot // nil for an index file
}

// content returns the content of an index or a collection on this machine, which the caller closes.
func (s *Service) content(index string) (*content, error) {
	if s.Remote {
		return nil, elsewhere("index", index)
	}
	all, err := s.Collection(index)
	if err != nil {
		return nil, err
	}
	if all != nil {
		return &content{all.Segments(), all}, nil
	}
	x, err := s.Snapshot(index)
	if err != nil {
		return nil, err
	}
	return &content{parts: []*engine.Snapshot{x}}, nil
}

func (c *content) Close() error {
	if c.all != nil {
		return c.all.Close()
	}
	return c.parts[0].Close()
}

// statistics returns the statistics of the whole, with the document frequencies of terms.
func (c *content) statistics(ctx context.Context, terms ...string) (engine.Statistics, error) {
	if c.all != nil {
		return c.all.Statistics(ctx, terms...)
	}
	return c.parts[0].Statistics(terms...), nil
}

// several is the codec of a list whose segments have several codecs.
const several = "several"

// merged sums lists of one term in several segments. Documents is the number of documents that are not deleted.
type merged map[string]*api.PostingList

func (m merged) add(term string, l *api.PostingList) {
	sum := m[term]
	if sum == nil {
		m[term] = l
		return
	}
	if sum.Bytes += l.Bytes; sum.Codec != l.Codec {
		sum.Codec = several
	}
	sum.Weight = max(sum.Weight, l.Weight)
}

// live sets the document frequencies in the whole, and leaves out the lists of deleted documents alone.
func (m merged) live(ctx context.Context, c *content) (all engine.Statistics, err error) {
	names := make([]string, 0, len(m))
	for t := range m {
		names = append(names, t)
	}
	if all, err = c.statistics(ctx, names...); err != nil {
		return all, err
	}
	for t, l := range m {
		if l.Documents = all.DF[t]; l.Documents == 0 {
			delete(m, t)
		}
	}
	return all, nil
}

// lists returns the posting lists of a query, the shortest first.
func (c *content) lists(ctx context.Context, q engine.Query) (*queryLists, error) {
	if c.all == nil {
		x := c.parts[0]
		l, err := listsOf(x, q)
		if err == nil {
			l.weigh(q, x.Statistics(), x.File().Meta().Impacts.Bits > 0)
		}
		return l, err
	}
	sum, out := merged{}, &queryLists{}
	for _, x := range c.parts {
		l, err := listsOf(x, q)
		if err != nil {
			return nil, err
		}
		for k, h := range l.handles {
			sum.add(x.File().Term(h), l.lists[k])
		}
		out.terms = append(out.terms, l.terms...)
	}
	if e, err := read(q); err == nil && q.Text != "" && !q.Literal { // a prefix stands for itself: its terms differ by segment
		out.expression = valid(cut(e.String(), mostCharacter))
	}
	all, err := sum.live(ctx, c)
	if err != nil {
		return nil, err
	}
	slices.Sort(out.terms)
	for _, t := range slices.Compact(out.terms) {
		if sum[t] == nil {
			out.unknown = append(out.unknown, valid(t))
		}
	}
	for _, l := range sum {
		out.lists = append(out.lists, l)
	}
	slices.SortFunc(out.lists, func(a, b *api.PostingList) int {
		return cmp.Or(cmp.Compare(a.Documents, b.Documents), cmp.Compare(a.Term, b.Term))
	})
	out.lists = out.lists[:min(mostLists, len(out.lists))]
	out.weigh(q, all, false)
	return out, nil
}

// codecs sums the lists of each codec.
func (c *content) codecs() (all []*api.CodecUse) {
	at := map[string]*api.CodecUse{}
	for _, x := range c.parts {
		for _, part := range inventory.Codecs(x.File()) {
			sum := at[part.Codec]
			if sum == nil {
				sum = &api.CodecUse{Codec: part.Codec}
				at[part.Codec], all = sum, append(all, sum)
			}
			sum.Lists, sum.Postings, sum.Bytes = sum.Lists+part.Lists, sum.Postings+part.Postings, sum.Bytes+part.Bytes
		}
	}
	for _, sum := range all {
		sum.BitsPerPosting = 8 * float64(sum.Bytes) / float64(max(1, sum.Postings))
	}
	return all
}

// sections sums the sections of the files by their names.
func (c *content) sections() (all []*api.FileSection) {
	at := map[string]*api.FileSection{}
	for _, x := range c.parts {
		for _, part := range x.File().Sections() {
			if at[part.Name] == nil {
				at[part.Name] = &api.FileSection{Name: part.Name}
				all = append(all, at[part.Name])
			}
			at[part.Name].Bytes += uint64(part.Length)
		}
	}
	return all
}

// residents sums the residence by processor. The reason is the reason of the first segment.
func (c *content) residents() (all []*api.Resident) {
	at := map[string]*api.Resident{}
	for _, x := range c.parts {
		for _, r := range residents(x.Info().Resident) {
			if sum := at[r.Processor]; sum != nil {
				sum.Bytes, sum.Reserve = sum.Bytes+r.Bytes, sum.Reserve && r.Reserve
				continue
			}
			at[r.Processor], all = r, append(all, r)
		}
	}
	return all
}

// term describes a posting list. The costs under each codec are sums of the segments.
func (c *content) term(ctx context.Context, term string) (*api.TermDetails, error) {
	var out *api.TermDetails
	at, postings := map[string]*api.CodecCost{}, 0.0
	for _, x := range c.parts {
		t, err := inventory.OfTerm(x.File(), term)
		if errors.Is(err, inventory.ErrUnknown) {
			continue
		}
		if err != nil {
			return nil, err
		}
		h, _ := x.File().Lookup(term)
		l := postingList(x, h)
		if out == nil {
			out = &api.TermDetails{Term: l.Term, Codec: l.Codec, Reason: t.Why}
		} else if out.Codec != l.Codec {
			out.Codec, out.Reason = several, "each segment has the codec of its list"
		}
		n := float64(l.Documents)
		postings += n
		out.Occurrences, out.Bytes = out.Occurrences+x.File().Tokens(h), out.Bytes+l.Bytes
		for _, k := range t.Codecs {
			sum := at[k.Codec]
			if sum == nil {
				sum = &api.CodecCost{Codec: k.Codec}
				at[k.Codec], out.Costs = sum, append(out.Costs, sum)
			}
			sum.Bytes, sum.BitsPerPosting, sum.TimeBits = sum.Bytes+k.Bytes, sum.BitsPerPosting+n*k.Bits, sum.TimeBits+n*k.TimeBits
		}
	}
	if out == nil {
		return nil, nil
	}
	for _, sum := range out.Costs {
		sum.BitsPerPosting, sum.TimeBits = sum.BitsPerPosting/postings, sum.TimeBits/postings
	}
	all, err := c.statistics(ctx, term)
	if out.Documents = all.DF[term]; err == nil && out.Documents == 0 {
		return nil, nil // deleted documents alone have it
	}
	return out, err
}
