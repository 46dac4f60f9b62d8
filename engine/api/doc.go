// Package api is the protocol of a heddle server: messages and services in protocol buffers,
// with clients and handlers for Connect, gRPC and gRPC-Web.
//
// The definition is in the .proto files of this folder. Option (heddle.v1.route) of a method is
// its plain HTTP route, whose JSON has the names of the definition and plain numbers: Marshal and
// Unmarshal. OpenAPI describes these routes.
package api

//go:generate go run ./internal/gen
