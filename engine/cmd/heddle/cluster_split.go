//go:build !core

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/cluster/split"
	"heddle/engine/cmd/heddle/internal/report"
	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/internal/layout"
)

type clusterSplitOptions struct {
	onePath
	out        string
	shards     int
	at         []uint
	like       string
	attributes string
	force      bool
	json       bool
	noProgress bool
}

func newClusterSplit(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "split -o DIR (--shards N | --at LIST | --like MANIFEST) X.hdl|X.hdb",
		Short: "Cut an index or a table into shards",
		Long: `Split writes shards of consecutive documents or rows, and their manifest, to a folder. A
shard is a complete file: the file that a build of its documents writes. Impacts stay the
impacts of the whole. The manifest, DIR/manifest.json, lists the first document, number of
documents, size and SHA-256 of each shard, and the statistics of the whole.

--attributes cuts the attribute table of an index where the index is cut, for searches with
filters and facets. heddle cluster publish gives both to the same nodes.

--shards gives the shards of an index about equal sums of document lengths, plus 8 per
document, so that their sizes and the work of a query are about equal. Shards of a table
get equal numbers of rows. --at cuts before the given documents or rows. --like cuts where
another manifest has cuts, so that a table follows its index.

The manifest appears when all shards are complete, and takes the place of an earlier
manifest in one step. A failed split leaves nothing. Split refuses a folder with other
files; with --force these files stay beside the shards. Memory does not grow with the
number of documents. An index is read once for every 16 shards.`,
		Example: `  heddle cluster split -o books --shards 8 books.hdl
  heddle cluster split -o docs --shards 4 --attributes docs.hdb docs.hdl
  heddle cluster split -o prices --like books books.hdb
  heddle cluster split -o parts --at 1,2 books.hdl`,
	}, &clusterSplitOptions{})
}

func (o *clusterSplitOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVarP(&o.out, "output", "o", "", "write shards and manifest to folder `DIR`")
	fs.IntVar(&o.shards, "shards", 0, fmt.Sprintf("`NUMBER` of shards, 1 to %d", layout.MaxShards))
	fs.UintSliceVar(&o.at, "at", nil, "first documents or rows of all shards but the first, `LIST`, ascending")
	fs.StringVar(&o.like, "like", "", "take the cuts of this `MANIFEST`, a file or its folder")
	fs.StringVar(&o.attributes, "attributes", "", "attribute table `X.hdb` of the index, whose row i describes document i")
	fs.BoolVar(&o.force, "force", false, "write to a folder with other files")
	addJSON(fs, &o.json)
	addNoProgress(fs, &o.noProgress)
}

func (o *clusterSplitOptions) Validate(args []string) error {
	if err := o.set(args, "index or table file"); err != nil {
		return err
	}
	given := 0
	for _, set := range []bool{o.shards != 0, len(o.at) > 0, o.like != ""} {
		if set {
			given++
		}
	}
	switch {
	case o.out == "":
		return errors.New("--output (-o) is missing")
	case given != 1:
		return errors.New("exactly one of --shards, --at and --like is necessary")
	case o.shards < 0 || o.shards > layout.MaxShards:
		return fmt.Errorf("--shards is %d; possible are 1 to %d", o.shards, layout.MaxShards)
	}
	return nil
}

func (o *clusterSplitOptions) Run(ctx context.Context, a *App) error {
	opt := split.Options{Shards: o.shards, Attributes: o.attributes, Force: o.force}
	for _, at := range o.at {
		opt.Cuts = append(opt.Cuts, uint64(at))
	}
	if o.like != "" {
		m, err := layout.ReadManifest(o.like)
		if err != nil {
			return err
		}
		opt.Like = m
	}
	var bar terminal.Progress
	started := false
	opt.Progress = func(done, total uint64) {
		if !started {
			started, bar = true, a.progress("splitting", terminal.UnitValues, int64(total), o.noProgress)
		}
		bar.To(int64(done))
	}
	m, err := split.File(ctx, o.path, o.out, opt)
	bar.End()
	if err != nil {
		return forcible(err)
	}
	return a.print(report.Shards{Dir: o.out, Map: m}, o.json)
}
