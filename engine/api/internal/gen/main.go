// Command gen generates the Go code and the OpenAPI description of package api from its protocol
// definition. It needs no network: it compiles the definition in Go and runs the generators of
// the modules in go.mod.
//
//	go run ./internal/gen
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

// plugins are the generators with their parameters. Package suffix "" puts the code of services
// into the package of the messages.
var plugins = []struct{ command, parameter string }{
	{"google.golang.org/protobuf/cmd/protoc-gen-go", "module=heddle/engine/api"},
	{"connectrpc.com/connect/v2/cmd/protoc-gen-connect-go", "module=heddle/engine/api,package_suffix"},
}

// definition is the folder of the definition inside package api.
const definition = "heddle/v1"

func main() {
	dir := "."
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	files, err := generate(context.Background(), dir)
	if err != nil {
		log.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// generate returns the generated files of the definition in dir, by name.
func generate(ctx context.Context, dir string) (map[string][]byte, error) {
	paths, err := fs.Glob(os.DirFS(dir), definition+"/*.proto")
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s/%s: no .proto files", dir, definition)
	}
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{dir}}),
		SourceInfoMode: protocompile.SourceInfoStandard, // comments
	}
	compiled, err := compiler.Compile(ctx, paths...)
	if err != nil {
		return nil, err
	}
	request := &pluginpb.CodeGeneratorRequest{FileToGenerate: paths}
	seen := map[string]bool{}
	for _, f := range compiled {
		request.ProtoFile = appendFile(request.ProtoFile, seen, f)
	}
	files := map[string][]byte{}
	for _, p := range plugins {
		request.Parameter = proto.String(p.parameter)
		if err := run(ctx, p.command, request, files); err != nil {
			return nil, fmt.Errorf("%s: %w", p.command, err)
		}
	}
	files["openapi.json"], err = openAPI(compiled)
	return files, err
}

// appendFile appends the imports of a file, and then the file.
func appendFile(all []*descriptorpb.FileDescriptorProto, seen map[string]bool, f protoreflect.FileDescriptor) []*descriptorpb.FileDescriptorProto {
	if seen[f.Path()] {
		return all
	}
	seen[f.Path()] = true
	imports := f.Imports()
	for i := range imports.Len() {
		all = appendFile(all, seen, imports.Get(i).FileDescriptor)
	}
	return append(all, protoutil.ProtoFromFileDescriptor(f))
}

// run adds the output of a generator to files.
func run(ctx context.Context, command string, request *pluginpb.CodeGeneratorRequest, files map[string][]byte) error {
	in, err := proto.Marshal(request)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "run", command)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	var response pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(out, &response); err != nil {
		return err
	}
	if response.GetError() != "" {
		return errors.New(response.GetError())
	}
	for _, f := range response.GetFile() {
		files[f.GetName()] = []byte(f.GetContent())
	}
	return nil
}
