// Package access decides which callers a server accepts: tokens, and certificates of both sides of a
// connection. All of them are files, which Guard.Reload reads again.
package access
