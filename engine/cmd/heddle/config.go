package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/config"
)

func newConfig(a *App) *cobra.Command {
	return group("config", "Show the configuration", `Config shows the configuration that heddle works by.`, newConfigPrint(a))
}

type configPrintOptions struct {
	settings
	json bool
}

func newConfigPrint(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "print [--json] [flags that set keys]",
		Short: "Print every key with its value and where that came from",
		Long: `Print prints every key of the configuration with the value in force and where it
came from: default, FILE:LINE, environment NAME or flag --NAME. The output is
itself a configuration file. It takes every flag that sets a key.

A key "name" of [section] is set, in rising precedence, by its default, by the
TOML file that --config or HEDDLE_CONFIG names, by the environment variable
HEDDLE_SECTION_NAME, and by a flag.`,
		Example: `  heddle config print
  heddle config print --backend host > heddle.toml
  HEDDLE_SEARCH_K=20 heddle config print --json`,
	}, &configPrintOptions{})
}

func (o *configPrintOptions) AddFlags(fs *pflag.FlagSet) {
	addJSON(fs, &o.json)
	var names []string
	for _, f := range keyFlags {
		if f.name != "log-level" { // which add adds anyway
			names = append(names, f.name)
		}
	}
	o.add(fs, names...)
}

func (o *configPrintOptions) Validate(args []string) error { return noArguments(args) }

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
	return writeJSON(a.Stdout, all)
}
