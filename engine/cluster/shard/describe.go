package shard

import (
	"context"
	"errors"
	"strconv"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/index/bm25"
	"heddle/engine/internal/part"
)

// DescribeShard implements api.ShardServiceHandler.
func (h handler) DescribeShard(_ context.Context, r *api.DescribeShardRequest) (out *api.DescribeShardResponse, err error) {
	defer reply(&err)
	x, err := h.index(r.GetTarget())
	if errors.Is(err, part.ErrEpoch) {
		return h.describeTable(r.GetTarget())
	}
	if err != nil {
		return nil, err
	}
	defer x.end()
	d := x.Describe()
	return &api.DescribeShardResponse{Docs: d.Docs, Lists: d.Lists, Checksum: d.Checksum, Fields: FieldsMessage(d.Fields), Analysis: analysisMessage(d.Analysis), Positions: d.Positions}, nil
}

// FieldsMessage is the description of fields as a message.
func FieldsMessage(all []part.Field) (m []*api.IndexField) {
	for _, f := range all {
		m = append(m, &api.IndexField{Name: f.Name, Lists: f.Lists, Docs: f.Docs, Length: f.Length})
	}
	return m
}

// DescriptionOf is the description of a message.
func DescriptionOf(m *api.DescribeShardResponse) part.Description {
	d := part.Description{Docs: m.GetDocs(), Lists: m.GetLists(), Checksum: m.GetChecksum(), Analysis: analysisOf(m.GetAnalysis()), Positions: m.GetPositions()}
	for _, f := range m.GetFields() {
		d.Fields = append(d.Fields, part.Field{FieldStatistics: bm25.FieldStatistics{Name: f.GetName(), Docs: f.GetDocs(), Length: f.GetLength()}, Lists: f.GetLists()})
	}
	return d
}

func (h handler) describeTable(r *api.ShardTarget) (*api.DescribeShardResponse, error) {
	t, release, err := h.shards.OpenTable(r.GetCollection(), r.GetEpoch(), int(r.GetShard()))
	if err != nil {
		return nil, err
	}
	defer release()
	info, err := t.Info()
	if err != nil {
		return nil, err
	}
	return &api.DescribeShardResponse{Docs: uint64(info.Rows), Checksum: strconv.FormatUint(info.Checksum, 16), Columns: Columns(info)}, nil
}

// Columns describes the columns of a table.
func Columns(info engine.TableInfo) (all []*api.Column) {
	for _, c := range info.Columns {
		all = append(all, &api.Column{Name: c.Name, Type: c.TypeName(), Bins: uint32(len(c.Stored().Bins)), Missing: uint64(c.Missing)})
	}
	return all
}
