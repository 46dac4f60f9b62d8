// Package kernels embeds the OpenCL C sources. Each file starts with its contract. Package
// device joins the files of a program behind common.cl and the macros of the tuning row.
package kernels

import "embed"

// Files holds all sources by name, "common.cl" for example.
//
//go:embed *.cl
var Files embed.FS
