// Package api is the protocol of a heddle server: messages and services in protocol buffers,
// with clients and handlers for Connect, gRPC and gRPC-Web.
//
// The definition is in the .proto files of this folder. Option (heddle.v1.route) of a method is
// its plain HTTP route, whose JSON has the names of the definition and plain numbers: AppendJSON and
// ReadJSON. OpenAPI describes these routes.
//
//	c, err := api.NewClient("http://127.0.0.1:7700", api.ClientOptions{})
//	if err != nil { ... }
//	best, err := c.Search(ctx, &api.SearchRequest{Index: "books", Query: "heaven earth", K: new(uint32(10))})
package api

//go:generate go run ./internal/gen
