//go:build !core

package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/codec"
	"heddle/engine/bench/decode"
)

type benchDecodeOptions struct {
	benchOptions
	codecs []string
}

func newBenchDecode(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "decode [flags]",
		Short: "Measure size and decoding speed of the codecs",
		Long: `Decode measures the size of encoded lists and the number of docIDs decoded per second,
and reproduces the papers' measurements of codecs.` + exhibits(decode.Family) + `

Backend auto measures pure Go and OpenCL.`,
		Example: `  heddle bench decode --short
  heddle bench decode --table ints --codecs parapfor,rice --json rows.jsonl`,
	}, &benchDecodeOptions{benchOptions: benchOptions{family: decode.Family}})
}

func (o *benchDecodeOptions) AddFlags(fs *pflag.FlagSet) {
	o.benchOptions.AddFlags(fs)
	o.addLists(fs)
	fs.StringSliceVar(&o.codecs, "codecs", nil, "measure only these codecs, `LIST` (default all)")
}

func (o *benchDecodeOptions) Validate(args []string) (err error) {
	if o.Codecs, err = parseAll(o.codecs, codec.ParseID); err != nil {
		return err
	}
	return o.benchOptions.Validate(args)
}
