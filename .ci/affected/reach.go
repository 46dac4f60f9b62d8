package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// reach is a set of declarations: objects of packages, names of removed declarations, and names of methods
// that calls through an interface may reach.
type reach map[any]bool

// removed is a name that no declaration has any more.
type removed string

// add inserts an object, and the name of a method.
func (r reach) add(o types.Object) {
	r[o] = true
	if f, ok := o.(*types.Func); ok && f.Signature().Recv() != nil {
		r[f.Name()] = true
	}
}

// uses is a graph: the declarations that a declaration mentions.
type uses map[types.Object]reach

func (u uses) of(o types.Object) reach {
	if u[o] == nil {
		u[o] = reach{}
	}
	return u[o]
}

// reached returns the declarations of a package that the edits of its files reach, or nil for all of them: a
// change of an import, of an initialiser, or of a file that is neither Go nor text.
func reached(s source, edits map[string]edit) reach {
	found := reach{}
	graph := uses{}
	for name, e := range edits {
		text := strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, ".md")
		if !text && s.files[name] == nil && e.before == nil {
			return nil
		}
		if !text {
			s.lost(found, e.before)
		}
	}
	for name, file := range s.files {
		for _, d := range file.Decls {
			for _, part := range parts(d) {
				owners := s.declared(part.node)
				for _, o := range owners {
					s.record(part.node, graph.of(o), graph.of)
				}
				if !slices.ContainsFunc(edits[name].lines, s.lines(part).meets) {
					continue
				}
				if owners == nil { // an import
					return nil
				}
				for _, o := range owners {
					found.add(o)
				}
			}
		}
	}
	for grown := true; grown; {
		grown = false
		for o, mentioned := range graph {
			if !found[o] && meet(mentioned, found) {
				found.add(o)
				grown = true
			}
		}
	}
	if found[initialiser] {
		return nil
	}
	return found
}

// lost adds the names that a file declared before its change and that the package no longer declares.
func (s source) lost(found reach, before []byte) {
	file, _ := parser.ParseFile(token.NewFileSet(), "", before, parser.SkipObjectResolution)
	if file == nil { // it was not Go
		return
	}
	present := map[string]string{}
	for _, now := range s.files {
		qualified(now, present)
	}
	past := map[string]string{}
	qualified(file, past)
	for full, name := range past {
		if present[full] == "" {
			found[removed(name)] = true
		}
	}
}

// qualified adds the names that a file declares, by the names with their types: "List.Len" → "Len".
func qualified(file *ast.File, names map[string]string) {
	within := ""
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			within = ""
			if n.Recv != nil {
				within = types.ExprString(n.Recv.List[0].Type) + "."
			}
			names[within+n.Name.Name] = n.Name.Name
			return false
		case *ast.TypeSpec:
			names[n.Name.Name] = n.Name.Name
			within = n.Name.Name + "."
		case *ast.ValueSpec:
			for _, id := range n.Names {
				names[id.Name] = id.Name
			}
			return false
		case *ast.Field:
			for _, id := range n.Names {
				names[within+id.Name] = id.Name
			}
		}
		return true
	})
}

// part is a declaration with its comment.
type part struct {
	comment *ast.CommentGroup
	node    ast.Node
}

// parts divides a group of types or variables. Constants of a group depend on each other.
func parts(d ast.Decl) []part {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return []part{{d.Doc, d}}
	case *ast.GenDecl:
		if d.Tok == token.CONST || d.Tok == token.IMPORT || len(d.Specs) == 1 {
			return []part{{d.Doc, d}}
		}
		var all []part
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				all = append(all, part{spec.Doc, spec})
			case *ast.ValueSpec:
				all = append(all, part{spec.Doc, spec})
			}
		}
		return all
	}
	return nil
}

// initialiser stands for functions and variables that only the start of a program uses: init, and the variables
// named _.
var initialiser = types.NewLabel(token.NoPos, nil, "init")

// declared returns the objects that a top-level declaration declares, with the fields and the methods of its types.
func (s source) declared(node ast.Node) (all []types.Object) {
	add := func(id *ast.Ident) {
		if o := s.info.Defs[id]; o == nil || id.Name == "_" || id.Name == "init" {
			all = append(all, initialiser)
		} else {
			all = append(all, o)
		}
	}
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			add(n.Name)
			return false
		case *ast.TypeSpec:
			add(n.Name)
		case *ast.Field:
			for _, id := range n.Names {
				if _, ok := s.info.Defs[id].(*types.Var); ok {
					add(id)
				}
			}
		case *ast.ValueSpec:
			for _, id := range n.Names {
				add(id)
			}
			return false
		}
		return true
	})
	return all
}

// record adds the mentions of a declaration to a set. A value of a field goes to the set of the field: only
// code that reads the field can call it.
func (s source) record(node ast.Node, to reach, of func(field types.Object) reach) {
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			if id, ok := n.Key.(*ast.Ident); ok && s.field(id) != nil {
				s.record(n.Value, of(s.field(id)), of)
				return false
			}
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if sel, ok := left.(*ast.SelectorExpr); ok && len(n.Lhs) == len(n.Rhs) && s.field(sel.Sel) != nil {
					s.record(n.Rhs[i], of(s.field(sel.Sel)), of)
				}
			}
		case *ast.Ident:
			s.mention(to, n)
		}
		return true
	})
}

// field returns the field that an identifier stands for, or nil.
func (s source) field(id *ast.Ident) types.Object {
	if field, ok := s.info.Uses[id].(*types.Var); ok && field.IsField() {
		return field.Origin()
	}
	return nil
}

// mention adds the declaration that an identifier stands for. A method of an interface stands for each method of
// its name.
func (s source) mention(to reach, id *ast.Ident) {
	switch o := s.info.Uses[id].(type) {
	case nil:
		if s.info.Defs[id] == nil {
			to[removed(id.Name)] = true
		}
	case *types.Func:
		to[o.Origin()] = true
		if recv := o.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) {
			to[o.Name()] = true
		}
	case *types.Var:
		to[o.Origin()] = true
	default:
		to[o] = true
	}
}

// meet reports whether two sets have an element in common.
func meet(a, b reach) bool {
	for x := range a {
		if b[x] {
			return true
		}
	}
	return false
}
