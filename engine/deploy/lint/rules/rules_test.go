// Package rules checks the Dockerfile by the rules of Docker's own build. They need half a minute to
// compile, so only .ci/run --full runs them.
package rules

import (
	"context"
	"os"
	"testing"

	"github.com/moby/buildkit/client/llb"
	"github.com/moby/buildkit/client/llb/sourceresolver"
	"github.com/moby/buildkit/frontend/dockerfile/dockerfile2llb"
	"github.com/opencontainers/go-digest"
)

// images describes each base image without a registry.
type images struct{}

func (images) ResolveImageConfig(_ context.Context, ref string, _ sourceresolver.Opt) (string, digest.Digest, []byte, error) {
	return ref, "", []byte(`{"architecture":"amd64","os":"linux"}`), nil
}

// lint returns what the rules say about a Dockerfile.
func lint(t *testing.T, text []byte) (found []string) {
	t.Helper()
	from := &llb.SourceMap{Definition: new(llb.Definition), Filename: "Dockerfile", Data: text}
	r, err := dockerfile2llb.DockerfileLint(t.Context(), text, dockerfile2llb.ConvertOpt{MetaResolver: images{}, SourceMap: from})
	if err != nil || r.Error != nil {
		t.Fatal(err, r.Error)
	}
	for _, w := range r.Warnings {
		found = append(found, w.RuleName+": "+w.Detail)
	}
	return found
}

func TestDockerfile(t *testing.T) {
	text, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range lint(t, text) {
		t.Error(f)
	}
	if found := lint(t, append(text, "\nENTRYPOINT heddle serve\n"...)); len(found) != 1 {
		t.Errorf("an entry point in a shell: %q", found)
	}
}
