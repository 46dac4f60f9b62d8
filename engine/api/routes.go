package api

import (
	_ "embed" // the description
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// OpenAPI is the description of the plain HTTP routes, in JSON.
//
//go:embed openapi.json
var OpenAPI []byte

// PlainRoute is the plain HTTP route of a procedure.
type PlainRoute struct {
	Method, Path string // "POST" and "/v1/indexes/{index}/search"
	Variables    []protoreflect.FieldDescriptor
	Procedure    string // "/heddle.v1.IndexService/Search"
}

// Routes returns the plain HTTP routes of the procedures of a service, such as IndexServiceName.
func Routes(service string) (all []PlainRoute) {
	for _, f := range []protoreflect.FileDescriptor{File_heddle_v1_index_proto, File_heddle_v1_table_proto, File_heddle_v1_machine_proto, File_heddle_v1_admin_proto, File_heddle_v1_inspect_proto} {
		for i := range f.Services().Len() {
			s := f.Services().Get(i)
			for j := range s.Methods().Len() {
				m := s.Methods().Get(j)
				if r, ok := proto.GetExtension(m.Options(), E_Route).(*Route); ok && r != nil && string(s.FullName()) == service {
					all = append(all, plainRoute(m, r))
				}
			}
		}
	}
	return all
}

func plainRoute(m protoreflect.MethodDescriptor, r *Route) PlainRoute {
	p := PlainRoute{Method: r.GetMethod(), Path: r.GetPath(), Procedure: "/" + string(m.Parent().FullName()) + "/" + string(m.Name())}
	for part := range strings.SplitSeq(p.Path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			p.Variables = append(p.Variables, m.Input().Fields().ByName(protoreflect.Name(strings.TrimSuffix(name, "}"))))
		}
	}
	return p
}
