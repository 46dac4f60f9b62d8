package server

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"connectrpc.com/connect/v2"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"heddle/engine"
	"heddle/engine/syntax"
)

// Drain begins the end of the server: it reports not ready, and Serve returns after the drain
// delay and the last request. Further calls have no effect.
func (s *Server) Drain() {
	s.mu.Lock()
	if !s.draining {
		s.draining = true
		close(s.drain)
	}
	s.mu.Unlock()
	s.announce()
}

func (s *Server) isDraining() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draining
}

// announce wakes the calls that watch readiness.
func (s *Server) announce() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
}

// Ready returns nil if all files are in service and the server does not drain. It depends on no
// other server.
func (s *Server) Ready() error {
	if err := s.loaded(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return &engine.Error{Code: engine.Closed, Op: "ready", Err: errors.New("the server is draining")}
	}
	return nil
}

// loaded returns nil if all files are in service.
func (s *Server) loaded() error {
	if err := s.indexes.Ready(); err != nil {
		return err
	}
	if s.opt.Service != nil {
		if err := s.opt.Service.Ready(); err != nil {
			return err
		}
	}
	return s.tables.Ready()
}

// ready answers GET /readyz.
func (s *Server) ready(w http.ResponseWriter, _ *http.Request) error {
	return yes(w, s.Ready())
}

// indexReady answers GET /v1/indexes/{index}/ready.
func (s *Server) indexReady(w http.ResponseWriter, r *http.Request) error {
	return yes(w, s.hasIndex(r.Context(), r.PathValue("index")))
}

// tableReady answers GET /v1/tables/{table}/ready.
func (s *Server) tableReady(w http.ResponseWriter, r *http.Request) error {
	return yes(w, s.hasTable(r.Context(), r.PathValue("table")))
}

func yes(w http.ResponseWriter, err error) error {
	if err == nil {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, err = w.Write([]byte("ok\n"))
	}
	return err
}

const healthService = "grpc.health.v1.Health"

// health is the health service of gRPC. Its descriptors are not registered, so that a program may
// also link the generated ones. The service "" is the whole server; "index/NAME" and "table/NAME"
// are one file.
type health struct{ s *Server }

// The values of HealthCheckResponse.ServingStatus.
const (
	serving        = 1
	notServing     = 2
	serviceUnknown = 3
)

var healthFile = func() protoreflect.FileDescriptor {
	field := func(name string, kind descriptorpb.FieldDescriptorProto_Type, of *string) *descriptorpb.DescriptorProto {
		return &descriptorpb.DescriptorProto{Field: []*descriptorpb.FieldDescriptorProto{{
			Name: proto.String(name), Number: proto.Int32(1), Type: &kind, TypeName: of, Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
		}}}
	}
	request := field("service", descriptorpb.FieldDescriptorProto_TYPE_STRING, nil)
	request.Name = proto.String("HealthCheckRequest")
	response := field("status", descriptorpb.FieldDescriptorProto_TYPE_ENUM, proto.String(".grpc.health.v1.HealthCheckResponse.ServingStatus"))
	response.Name = proto.String("HealthCheckResponse")
	status := &descriptorpb.EnumDescriptorProto{Name: proto.String("ServingStatus")}
	for i, name := range []string{"UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"} {
		status.Value = append(status.Value, &descriptorpb.EnumValueDescriptorProto{Name: &name, Number: proto.Int32(int32(i))})
	}
	response.EnumType = []*descriptorpb.EnumDescriptorProto{status}
	service := &descriptorpb.ServiceDescriptorProto{Name: proto.String("Health")}
	for _, name := range []string{"Check", "Watch"} {
		service.Method = append(service.Method, &descriptorpb.MethodDescriptorProto{
			Name: &name, InputType: proto.String(".grpc.health.v1.HealthCheckRequest"), OutputType: proto.String(".grpc.health.v1.HealthCheckResponse"),
			ServerStreaming: proto.Bool(name == "Watch"),
		})
	}
	f, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("grpc/health/v1/health.proto"), Package: proto.String("grpc.health.v1"), Syntax: proto.String("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{request, response}, Service: []*descriptorpb.ServiceDescriptorProto{service},
	}, nil)
	if err != nil {
		panic(err) // the definition is constant
	}
	return f
}()

// methods returns the methods of the service.
func (h health) methods() []connect.Method {
	methods := healthFile.Services().ByName("Health").Methods()
	return []connect.Method{
		{Spec: connect.Spec{Procedure: "/" + healthService + "/Check", Schema: methods.ByName("Check")}, Handler: h.check},
		{Spec: connect.Spec{Procedure: "/" + healthService + "/Watch", Schema: methods.ByName("Watch"), StreamType: connect.StreamTypeServer}, Handler: h.watch},
	}
}

func (h health) check(ctx context.Context, _ connect.Spec, stream connect.ServerStream) error {
	name, err := asksFor(stream)
	if err != nil {
		return err
	}
	status := h.status(ctx, name)
	if status == serviceUnknown {
		return connect.Errorf(connect.CodeNotFound, "no service is named %s: want \"\", index/NAME or table/NAME", syntax.Quote(name))
	}
	return sendStatus(stream, status)
}

// watch sends the status, and again after each change, until the server drains.
func (h health) watch(ctx context.Context, _ connect.Spec, stream connect.ServerStream) error {
	name, err := asksFor(stream)
	if err != nil {
		return err
	}
	for last := protoreflect.EnumNumber(-1); ; {
		h.s.mu.Lock()
		changed, draining := h.s.changed, h.s.draining
		h.s.mu.Unlock()
		if status := h.status(ctx, name); status != last {
			if err := sendStatus(stream, status); err != nil {
				return err
			}
			last = status
		}
		if draining {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// asksFor returns the name of the service in a request.
func asksFor(stream connect.ServerStream) (string, error) {
	m := dynamicpb.NewMessage(healthFile.Messages().ByName("HealthCheckRequest"))
	err := stream.Receive(m)
	return m.Get(m.Descriptor().Fields().ByNumber(1)).String(), err
}

func sendStatus(stream connect.ServerStream, status protoreflect.EnumNumber) error {
	m := dynamicpb.NewMessage(healthFile.Messages().ByName("HealthCheckResponse"))
	m.Set(m.Descriptor().Fields().ByNumber(1), protoreflect.ValueOfEnum(status))
	return stream.Send(m)
}

func (h health) status(ctx context.Context, name string) protoreflect.EnumNumber {
	var err error
	if index, ok := strings.CutPrefix(name, "index/"); ok {
		err = h.s.hasIndex(ctx, index)
	} else if table, ok := strings.CutPrefix(name, "table/"); ok {
		err = h.s.hasTable(ctx, table)
	} else if name == "" || strings.HasPrefix(name, "heddle.v1.") {
		err = h.s.Ready()
	} else {
		return serviceUnknown
	}
	switch engine.CodeOf(err) {
	case engine.OK:
		return serving
	case engine.NotFound:
		return serviceUnknown
	}
	return notServing
}
