package server

import (
	"connectrpc.com/connect/v2"
	"connectrpc.com/grpcreflect/v2"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// describe lets tools such as grpcurl ask for the procedures of rpc and for their messages, by the reflection service
// of gRPC.
func describe(rpc *connect.Server) {
	grpcreflect.Register(rpc, grpcreflect.WithDescriptorResolver(descriptors{protoregistry.GlobalFiles}))
}

// descriptors are the registered ones and those of the health service.
type descriptors struct{ *protoregistry.Files }

func (d descriptors) FindFileByPath(path string) (protoreflect.FileDescriptor, error) {
	if path == healthFile.Path() {
		return healthFile, nil
	}
	return d.Files.FindFileByPath(path)
}

func (d descriptors) FindDescriptorByName(name protoreflect.FullName) (protoreflect.Descriptor, error) {
	if name == healthService {
		return healthFile.Services().Get(0), nil
	}
	return d.Files.FindDescriptorByName(name)
}
