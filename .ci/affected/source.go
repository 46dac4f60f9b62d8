package main

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// source is a package with its types.
type source struct {
	pkg   *types.Package
	set   *token.FileSet
	files map[string]*ast.File // by name in the folder
	info  *types.Info
}

// module finds the packages of this module by their source, and foreign packages by compiled export data.
type module struct {
	folders map[string]folder // by import path
	loaded  map[string]source
	set     *token.FileSet
	others  types.Importer
}

// newModule returns the module of the packages. go list compiles their imports from other modules if Go's
// build cache lacks these.
func newModule(packages []folder) (*module, error) {
	m := &module{folders: map[string]folder{}, loaded: map[string]source{}, set: token.NewFileSet()}
	for _, f := range packages {
		m.folders[f.ImportPath] = f
	}
	imports := map[string]bool{}
	for _, f := range packages {
		for _, path := range f.Imports {
			if _, ok := m.folders[path]; !ok {
				imports[path] = true
			}
		}
	}
	arguments := []string{"list", "-export", "-f", "{{.ImportPath}}\t{{.Export}}", "--"}
	out, err := output("go", slices.AppendSeq(arguments, maps.Keys(imports))...)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		files[path] = file
	}
	m.others = importer.ForCompiler(m.set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
	return m, nil
}

// Import returns a package for the imports of another one.
func (m *module) Import(path string) (*types.Package, error) {
	if _, ok := m.folders[path]; !ok {
		return m.others.Import(path)
	}
	s, err := m.load(path)
	return s.pkg, err
}

// load reads a package of the module. Code that does not compile has no types in places; the compiler says so later.
func (m *module) load(path string) (source, error) {
	if s, ok := m.loaded[path]; ok {
		return s, nil
	}
	s := source{set: m.set, files: map[string]*ast.File{}}
	s.info = &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	var files []*ast.File
	for _, name := range m.folders[path].GoFiles {
		file, err := parser.ParseFile(m.set, filepath.Join(m.folders[path].Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return s, err
		}
		s.files[name] = file
		files = append(files, file)
	}
	config := types.Config{Importer: m, Error: func(error) {}}
	s.pkg, _ = config.Check(path, m.set, files, s.info)
	m.loaded[path] = s
	return s, nil
}

// lines returns the lines of a declaration, with its comment.
func (s source) lines(p part) span {
	from := p.node.Pos()
	if p.comment != nil {
		from = p.comment.Pos()
	}
	return span{s.set.Position(from).Line, s.set.Position(p.node.End()).Line}
}

// mentions reports whether a package mentions a declaration of the set.
func (s source) mentions(found reach) bool {
	all := reach{}
	for _, file := range s.files {
		s.record(file, all, func(types.Object) reach { return all })
	}
	return found == nil || meet(all, found)
}
