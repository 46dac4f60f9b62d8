package server

import (
	"context"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/server/catalog"
)

// ListIndexes implements api.IndexServiceHandler.
func (i indexService) ListIndexes(ctx context.Context, _ *api.ListIndexesRequest) (*api.ListIndexesResponse, error) {
	all, err := i.s.listIndexes(ctx)
	return &api.ListIndexesResponse{Indexes: all}, err
}

// GetIndex implements api.IndexServiceHandler.
func (i indexService) GetIndex(ctx context.Context, r *api.GetIndexRequest) (*api.Index, error) {
	if remote := i.s.remoteOf(r.GetIndex()); remote != nil {
		return remote.Index(ctx, r.GetIndex())
	}
	x, err := i.s.indexes.Find(r.GetIndex())
	if err != nil {
		return nil, err
	}
	return describeIndex(x)
}

func describeIndex(x *catalog.Entry[*engine.Index]) (*api.Index, error) {
	out := &api.Index{Name: x.Name}
	now := x.Now()
	if !now.Ready() {
		return out, nil
	}
	s, err := now.Resource.Snapshot()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	info := s.Info()
	out.Ready, out.Docs, out.Lists, out.Checksum = true, uint64(info.Docs), uint64(info.Lists), now.Checksum
	out.Resident = residents(info.Resident)
	if len(s.File().Meta().Fields) > 0 {
		for _, f := range s.File().Fields() {
			out.Fields = append(out.Fields, &api.IndexField{Name: f.Name, Lists: uint64(f.Terms), Docs: uint64(f.Docs), Length: f.Length})
		}
	}
	return out, nil
}

func residents(all []engine.Resident) (out []*api.Resident) {
	for _, r := range all {
		out = append(out, &api.Resident{Processor: r.Processor, Reserve: r.Reserve, Bytes: r.Bytes, Reason: r.Reason})
	}
	return out
}
