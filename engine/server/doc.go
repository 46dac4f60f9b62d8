// Package server serves the indexes and tables of an engine over HTTP: plain routes with JSON,
// Connect, gRPC and gRPC-Web on one port.
//
//	s, err := server.New(e, server.Options{Indexes: map[string]string{"books": "books.hdl"}})
//	if err != nil { ... }
//	listener, err := net.Listen("tcp", "127.0.0.1:7700")
//	if err != nil { ... }
//	go s.Load(ctx)
//	err = s.Serve(ctx, listener, nil) // until ctx ends
//
// Package api has the protocol. All protocols share one chain: limits, time-out, answer, error.
// The plain routes are a transport of the same procedures: each route calls the procedure whose
// definition names it.
package server
