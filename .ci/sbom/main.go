// Command sbom prints the bill of materials of a Go program as CycloneDX 1.5 in JSON: the modules
// that the program itself names, with their checksums of go.sum.
//
//	go run ./.ci/sbom PROGRAM VERSION
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"io"
	"log"
	"os"
	"runtime/debug"
	"strings"
)

type bill struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type    string     `json:"type"`
	Ref     string     `json:"bom-ref,omitempty"`
	Name    string     `json:"name"`
	Version string     `json:"version"`
	Package string     `json:"purl,omitempty"`
	More    []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: sbom PROGRAM VERSION")
	}
	info, err := buildinfo.ReadFile(os.Args[1])
	if err == nil {
		err = write(os.Stdout, info, os.Args[2])
	}
	if err != nil {
		log.Fatal(err)
	}
}

// write prints the bill of a program.
func write(w io.Writer, info *debug.BuildInfo, version string) error {
	b := bill{Format: "CycloneDX", Spec: "1.5", Version: 1}
	b.Metadata.Component = component{Type: "application", Name: info.Main.Path, Version: version}
	for _, s := range info.Settings {
		b.Metadata.Component.More = append(b.Metadata.Component.More, property{"go:build:" + s.Key, s.Value})
	}
	go1 := strings.TrimPrefix(info.GoVersion, "go")
	b.Components = []component{{Type: "library", Ref: "std", Name: "std", Version: info.GoVersion, Package: "pkg:golang/std@" + go1}}
	for _, m := range info.Deps {
		c := component{Type: "library", Name: m.Path, Version: m.Version}
		if m.Replace != nil { // a folder of this repository
			c.More = []property{{"go:replace", m.Replace.Path}}
			m = m.Replace
		}
		c.Package = "pkg:golang/" + c.Name + "@" + c.Version
		c.Ref = c.Package
		if m.Sum != "" {
			c.More = append(c.More, property{"go:sum", m.Sum})
		}
		b.Components = append(b.Components, c)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(b)
}
