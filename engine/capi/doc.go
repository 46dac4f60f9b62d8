// Command capi is the engine as a library for C and for languages that call C. It is built with cgo:
//
//	CGO_ENABLED=1 go build -buildmode=c-shared -o libheddle.so ./engine/capi
//
// heddle.h describes its functions. The test of the package writes heddle.h from types.h and from the exported
// functions: go test ./engine/capi -run TestHeader -update. Without cgo the package is an empty program.
package main

func main() {}
