package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/config"
	"heddle/engine/cmd/heddle/internal/flags"
	"heddle/engine/cmd/heddle/internal/terminal"
)

func newConfig(a *App) *cobra.Command {
	return group("config", "Show the configuration", `Config shows the configuration in force.`, newConfigPrint(a))
}

type configPrintOptions struct {
	flagsOnly
	settings
	json bool
}

func newConfigPrint(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "print [--json] [flags that set keys]",
		Short: "Print every key of the configuration with its value and origin",
		Long: `Print prints every key of the configuration with its value and its origin: default,
FILE:LINE, environment NAME or flag --NAME. The output is a configuration file itself.
Print accepts every flag that sets a key.

The sources of a key "name" of [section], in rising precedence: the default, the TOML
file of --config or HEDDLE_CONFIG, the environment variable HEDDLE_SECTION_NAME, and a
flag.`,
		Example: `  heddle config print
  heddle config print --backend host > heddle.toml
  HEDDLE_SEARCH_K=20 heddle config print --json`,
	}, &configPrintOptions{})
}

func (o *configPrintOptions) AddFlags(fs *pflag.FlagSet) {
	addJSON(fs, &o.json)
	o.Add(fs, slices.DeleteFunc(flags.Keys(), func(name string) bool { return name == "log-level" })...) // Add adds it always
}

func (o *configPrintOptions) Run(_ context.Context, a *App) error {
	c, _, err := o.load(a)
	if err != nil {
		return err
	}
	if !o.json {
		return c.WriteTOML(a.Stdout)
	}
	type setting struct {
		Value  any    `json:"value"`
		Origin string `json:"origin"`
	}
	all := map[string]setting{}
	for _, k := range config.Keys() {
		all[k.Name] = setting{k.Get(c), c.Origin(k.Name).String()}
	}
	return terminal.WriteJSON(a.Stdout, all)
}
