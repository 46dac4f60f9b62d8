package cluster

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/internal/layout"
)

// List returns the names of all indexes and tables, in order.
func (c *Coordinator) List(ctx context.Context) (indexes, tables []string, err error) {
	names, err := c.maps.Names(ctx)
	if err != nil {
		return nil, nil, err
	}
	slices.Sort(names)
	for _, name := range names {
		m, err := c.maps.Map(ctx, name)
		switch {
		case engine.CodeOf(err) == engine.NotFound: // removed in between
		case err != nil:
			return nil, nil, err
		case m.Kind == layout.Index:
			indexes = append(indexes, name)
		default:
			tables = append(tables, name)
		}
	}
	return indexes, tables, nil
}

// Index describes an index. Lists is the sum of all shards, and Checksum is one of the checksums of
// all shards. The index is not ready while a shard does not answer.
func (c *Coordinator) Index(ctx context.Context, name string) (*api.Index, error) {
	out := &api.Index{Name: name}
	return out, c.describe(ctx, name, layout.Index, func(all []*api.DescribeShardResponse, docs uint64, checksum string) {
		out.Ready, out.Docs, out.Checksum = true, docs, checksum
		for _, a := range all {
			out.Lists += a.GetLists()
		}
	})
}

// Table describes a table, as Index does. A column has as many rows without a value as all shards.
func (c *Coordinator) Table(ctx context.Context, name string) (*api.Table, error) {
	out := &api.Table{Name: name}
	return out, c.describe(ctx, name, layout.Table, func(all []*api.DescribeShardResponse, rows uint64, checksum string) {
		out.Ready, out.Rows, out.Checksum = true, rows, checksum
		out.Columns = all[0].GetColumns()
		for _, a := range all[1:] {
			for i, column := range a.GetColumns()[:min(len(out.Columns), len(a.GetColumns()))] {
				out.Columns[i].Missing += column.GetMissing()
			}
		}
	})
}

// describe asks all shards of a collection. Found is not called while a shard does not answer.
func (c *Coordinator) describe(ctx context.Context, name string, kind layout.Kind, found func(all []*api.DescribeShardResponse, docs uint64, checksum string)) error {
	ctx, cancel := c.deadline(ctx, 0)
	defer cancel()
	err := c.run(ctx, name, kind, func(ctx context.Context, x *collection) error {
		all, err := each(ctx, &reach{c: c, x: x}, &x.times.descriptions, 0, func(ctx context.Context, node api.ShardServiceClient, target *api.ShardTarget) (*api.DescribeShardResponse, error) {
			return node.DescribeShard(ctx, &api.DescribeShardRequest{Target: target})
		})
		if err != nil {
			return err
		}
		sum, docs := fnv.New64a(), uint64(0)
		for _, a := range all {
			fmt.Fprintln(sum, a.GetChecksum())
			docs += a.GetDocs()
		}
		found(all, docs, fmt.Sprintf("%016x", sum.Sum64()))
		return nil
	})
	if _, missing := errors.AsType[*MissingError](err); missing {
		return nil
	}
	return err
}
