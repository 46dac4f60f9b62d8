package main

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/cmd/heddle/internal/terminal"
)

// version is the version of a release, which the linker sets (.ci/dist).
var version string

// buildDetails identifies this program.
type buildDetails struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // revision of the source, if known
	Modified bool   `json:"modified,omitempty"` // the source differs from the revision
	Tags     string `json:"tags,omitempty"`     // build tags
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func thisBuild() buildDetails {
	b := buildDetails{Version: "unknown", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Version = strings.TrimPrefix(cmp.Or(version, info.Main.Version), "v")
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "-tags":
			b.Tags = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// String is the creator in index and table files.
func (b buildDetails) String() string { return "heddle " + b.Version }

type versionOptions struct {
	flagsOnly
	json bool
}

func newVersion(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:     "version [--json]",
		Short:   "Print the version",
		Long:    "Version prints the version of heddle, the source revision if known, the Go version, the\nplatform, and the tags of the build.",
		Example: "  heddle version\n  heddle version --json",
	}, &versionOptions{})
}

func (o *versionOptions) AddFlags(fs *pflag.FlagSet) { addJSON(fs, &o.json) }

func (o *versionOptions) Run(_ context.Context, a *App) error {
	b := thisBuild()
	if o.json {
		return terminal.WriteJSON(a.Stdout, b)
	}
	revision := b.Revision
	if revision == "" {
		revision = "unknown revision"
	} else if b.Modified {
		revision += " (modified)"
	}
	tags := b.Tags
	if tags != "" {
		tags = ", tags " + tags
	}
	_, err := fmt.Fprintf(a.Stdout, "%s, %s, %s, %s%s\n", b, revision, b.Go, b.Platform, tags)
	return err
}
