// Package access decides who may call a server: tokens, and certificates of both sides of a
// connection. All of them are files, which Guard.Reload reads again.
package access
