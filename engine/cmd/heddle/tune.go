package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/BurntSushi/toml"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/cl"
	"heddle/config"
	"heddle/engine/cmd/heddle/internal/machine"
	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/file/auxiliary"
	"heddle/hostfallback"
)

type tuneOptions struct {
	flagsOnly
	settings
	out         string
	short, json bool
	force       bool
}

func newTune(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "tune [flags]",
		Short: "Measure an OpenCL device and write its tuning row",
		Long: `Tune measures the best OpenCL device, or the device of --device, under the settings of
the kernels: work-group sizes, tiles, serial or parallel loops, scan methods, and batches
in flight. It starts from the present tuning row, varies one setting after the other,
checks all answers, prints each measurement on standard error, and writes the best row
as TOML. It takes a minute at most. At last it measures that row and the present one in
turn, and keeps the present settings where they are as fast. Nothing else should use the
device meanwhile. A file that exists is replaced with --force only.
The file names the device, its driver and all figures: send it to the authors of heddle
to get a built-in row for the device.

The key devices.tuning, or --tuning, names a file of such rows. They precede the
built-in rows.`,
		Example: `  heddle tune -o tuning.toml
  heddle tune --device pocl --short --json
  heddle search books.hdl --query loom --tuning tuning.toml`,
	}, &tuneOptions{})
}

func (o *tuneOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVarP(&o.out, "output", "o", "-", "write the row to `FILE`; - is standard output")
	fs.BoolVar(&o.short, "short", false, "try fewer settings on smaller workloads")
	fs.BoolVar(&o.force, "force", false, "replace a file that exists")
	addJSON(fs, &o.json)
	o.Add(fs, "device", "threads", "tuning")
}

// readTunings reads the tuning rows of the file in the configuration.
func readTunings(c *config.Config) ([]cl.Tuning, error) {
	if c.Devices.Tuning == "" {
		return nil, nil
	}
	return cl.ReadTunings(c.Devices.Tuning)
}

// tuneStep is one measurement in JSON. Its names are part of the command line's contract.
type tuneStep struct {
	Part    string  `json:"part"`
	Setting string  `json:"setting,omitempty"`
	Value   float64 `json:"value,omitempty"`
	Unit    string  `json:"unit"`
	Error   string  `json:"error,omitempty"`
}

func (o *tuneOptions) Run(ctx context.Context, a *App) error {
	c, log, err := o.load(a)
	if err != nil {
		return err
	}
	rows, err := readTunings(c)
	if err != nil {
		return err
	}
	if st, err := os.Stat(o.out); err == nil && o.out != "-" && !o.force && st.Mode().IsRegular() && st.Size() > 0 {
		return forcible(fmt.Errorf("%s: %w: choose another output", o.out, fs.ErrExist))
	}
	if _, err := a.Examine(ctx, &c.Devices, log); err != nil {
		return err
	}
	devices, err := cl.Devices(c.Devices.Device, rows...)
	if len(devices) == 0 {
		return machine.NoDevice(c.Devices, err)
	}
	d := devices[0]
	host := hostfallback.New(hostfallback.Options{Threads: c.Devices.Threads})
	defer host.Close()
	fmt.Fprintf(a.Stderr, "%s, starting from tuning row %q\n", d, d.Tuning().Name)
	var steps []tuneStep
	row, err := cl.Tune(ctx, d, cl.TuneOptions{Short: o.short, MemoryLimit: uint64(c.Memory.Device), Host: host, Tried: func(s cl.TuneStep) {
		steps = append(steps, tuneStep{s.Part, s.Setting, s.Value, s.Unit, machine.ErrorText(s.Err)})
		writeStep(a.Stderr, s)
	}})
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := cl.WriteTuning(&text, row); err != nil {
		return err
	}
	if o.json {
		var table map[string]any
		if _, err := toml.Decode(text.String(), &table); err != nil {
			return err
		}
		text.Reset()
		err := terminal.WriteJSON(&text, struct {
			Device string     `json:"device"`
			Driver string     `json:"driver"`
			Row    any        `json:"row"`
			Steps  []tuneStep `json:"steps"`
		}{d.String(), d.Info().Driver, table["row"], steps})
		if err != nil {
			return err
		}
	}
	if o.out != "-" {
		return auxiliary.Replace(o.out, text.Bytes())
	}
	_, err = a.Stdout.Write(text.Bytes())
	return err
}

// writeStep prints one measurement. A star marks the best setting of its part so far.
func writeStep(w io.Writer, s cl.TuneStep) {
	mark := ' '
	if s.Best {
		mark = '*'
	}
	figure := fmt.Sprintf("%8.4g %s", s.Value, s.Unit)
	if s.Err != nil {
		figure = "failed: " + s.Err.Error()
	}
	fmt.Fprintf(w, "%c %-12s %-42s %s\n", mark, s.Part, s.Setting, figure)
}
