package cluster

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"

	"heddle/engine/api"
	"heddle/engine/cluster/shard"
	"heddle/engine/internal/coordinator"
	"heddle/engine/internal/layout"
)

// List returns the names of all indexes and tables, in order.
func (c *Coordinator) List(ctx context.Context) (indexes, tables []string, err error) {
	all, err := c.all.Layouts(ctx)
	for _, m := range all {
		if m.Kind == layout.Index {
			indexes = append(indexes, m.Name)
		} else {
			tables = append(tables, m.Name)
		}
	}
	return indexes, tables, err
}

// Index describes an index. Lists is the sum of all shards, and Checksum is one of the checksums of
// all shards. The index is not ready while a shard does not answer.
func (c *Coordinator) Index(ctx context.Context, name string) (*api.Index, error) {
	d, err := c.all.Describe(ctx, name)
	if err != nil {
		return &api.Index{Name: name}, unlessMissing(err)
	}
	x := &api.Index{Name: name, Ready: true, Docs: d.Docs, Lists: d.Lists, Checksum: d.Checksum, Fields: shard.FieldsMessage(d.Fields)}
	if c.network == nil {
		x.Collection = new(true)
	}
	return x, nil
}

// Table describes a table, as Index does. A column has as many rows without a value as all shards.
func (c *Coordinator) Table(ctx context.Context, name string) (*api.Table, error) {
	out := &api.Table{Name: name}
	ctx, cancel := c.all.Deadline(ctx, 0)
	defer cancel()
	return out, unlessMissing(c.all.Run(ctx, name, layout.Table, func(ctx context.Context, x *coordinator.Collection) error {
		all, err := each(ctx, c, &coordinator.Reach{Collection: x}, &c.timesOf(name).descriptions, 0, func(ctx context.Context, node api.ShardServiceClient, target *api.ShardTarget) (*api.DescribeShardResponse, error) {
			return node.DescribeShard(ctx, &api.DescribeShardRequest{Target: target})
		})
		if err != nil {
			return err
		}
		sum := fnv.New64a()
		out.Ready, out.Rows, out.Columns = true, 0, nil
		for _, a := range all {
			fmt.Fprintln(sum, a.GetChecksum())
			out.Rows += a.GetDocs()
			if out.Columns == nil {
				out.Columns = a.GetColumns()
				continue
			}
			for i, column := range a.GetColumns()[:min(len(out.Columns), len(a.GetColumns()))] {
				out.Columns[i].Missing += column.GetMissing()
			}
		}
		out.Checksum = fmt.Sprintf("%016x", sum.Sum64())
		return nil
	}))
}

// unlessMissing leaves out the error of shards that do not answer.
func unlessMissing(err error) error {
	if _, missing := errors.AsType[*MissingError](err); missing {
		return nil
	}
	return err
}
