package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// buildDetails identifies this program.
type buildDetails struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // of the source, if the build knows it
	Modified bool   `json:"modified,omitempty"` // since that revision
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func thisBuild() buildDetails {
	b := buildDetails{Version: "unknown", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Version = info.Main.Version
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// String is what index files name as their creator.
func (b buildDetails) String() string { return "heddle " + b.Version }

type versionOptions struct{ json bool }

func newVersion(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:     "version [--json]",
		Short:   "Print which build this is",
		Long:    "Version prints the version of heddle, the source revision if the build knows it,\nthe Go version and the platform.",
		Example: "  heddle version\n  heddle version --json",
	}, &versionOptions{})
}

func (o *versionOptions) AddFlags(fs *pflag.FlagSet) { addJSON(fs, &o.json) }

func (o *versionOptions) Validate(args []string) error { return noArguments(args) }

func (o *versionOptions) Run(_ context.Context, a *App) error {
	b := thisBuild()
	if o.json {
		return writeJSON(a.Stdout, b)
	}
	revision := b.Revision
	if revision == "" {
		revision = "unknown revision"
	} else if b.Modified {
		revision += " (modified)"
	}
	_, err := fmt.Fprintf(a.Stdout, "%s, %s, %s, %s\n", b, revision, b.Go, b.Platform)
	return err
}

func addJSON(fs *pflag.FlagSet, to *bool) {
	fs.BoolVar(to, "json", false, "print JSON")
}

func addNoProgress(fs *pflag.FlagSet, to *bool) {
	fs.BoolVar(to, "no-progress", false, "show no progress bar, on a terminal either")
}
