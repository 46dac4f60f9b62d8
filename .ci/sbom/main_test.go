package main

import (
	"encoding/json"
	"runtime/debug"
	"strings"
	"testing"
)

// TestWrite: each module is a component, and a replaced one keeps its name.
func TestWrite(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Path: "heddle"},
		Deps: []*debug.Module{
			{Path: "example.org/a", Version: "v1.2.3", Sum: "h1:abc="},
			{Path: "example.org/b", Version: "v0.1.0", Replace: &debug.Module{Path: "./b"}}},
		Settings: []debug.BuildSetting{{Key: "GOARCH", Value: "arm64"}}}
	var b strings.Builder
	if err := write(&b, info, "1.0"); err != nil {
		t.Fatal(err)
	}
	var got bill
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatal(err)
	}
	main := got.Metadata.Component
	if got.Format != "CycloneDX" || got.Spec != "1.5" || main.Name != "heddle" || main.Version != "1.0" || len(main.More) != 1 || len(got.Components) != 3 {
		t.Fatalf("%s", b.String())
	}
	std, a, r := got.Components[0], got.Components[1], got.Components[2]
	if std.Package != "pkg:golang/std@1.26.0" || a.Package != "pkg:golang/example.org/a@v1.2.3" || a.More[0].Value != "h1:abc=" || r.Package != "pkg:golang/example.org/b@v0.1.0" || r.More[0].Value != "./b" {
		t.Errorf("%+v", got.Components)
	}
}
