// Command build bundles the pages of the web console: it joins TypeScript, style sheets and
// foreign modules into the files that package console embeds. It needs no Node and no network.
//
//	go generate ./engine/console
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	files, err := bundle("..")
	if err != nil {
		log.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join("..", "dist", name), text, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// modules are the foreign modules, by the name that the source imports.
var modules = map[string]string{
	"preact":             "preact/preact.mjs",
	"preact/hooks":       "preact/hooks.mjs",
	"preact/jsx-runtime": "preact/jsxRuntime.mjs",
	"uplot":              "uplot/uPlot.esm.js",
	"uplot/style.css":    "uplot/uPlot.min.css",
}

// bundle returns the files of the bundle by name. Dir is the folder of package console.
func bundle(dir string) (map[string][]byte, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	alias := map[string]string{}
	for name, path := range modules {
		alias[name] = filepath.Join(dir, "modules", path)
	}
	built := api.Build(api.BuildOptions{
		AbsWorkingDir: dir, EntryPoints: []string{"source/console.tsx"}, Outdir: "dist",
		Bundle: true, Format: api.FormatESModule, Target: api.ES2022, Charset: api.CharsetUTF8,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true, LegalComments: api.LegalCommentsNone,
		JSX: api.JSXAutomatic, JSXImportSource: "preact", Alias: alias, TsconfigRaw: "{}",
	})
	if len(built.Errors) > 0 {
		m, where := built.Errors[0], ""
		if l := m.Location; l != nil {
			where = fmt.Sprintf("%s:%d:%d: ", l.File, l.Line, l.Column)
		}
		return nil, fmt.Errorf("%s%s", where, m.Text)
	}
	files := map[string][]byte{}
	for _, f := range built.OutputFiles {
		files[filepath.Base(f.Path)] = f.Contents
	}
	for _, name := range []string{"index.html", "icon.svg"} {
		if files[name], err = os.ReadFile(filepath.Join(dir, "source", name)); err != nil {
			return nil, err
		}
	}
	files["licenses.txt"], err = licenses(dir)
	return files, err
}

// licenses joins the licences of the modules.
func licenses(dir string) ([]byte, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "modules", "*", "LICENSE"))
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s\n\n%s\n", filepath.Base(filepath.Dir(path)), text)
	}
	return []byte(b.String()), nil
}
