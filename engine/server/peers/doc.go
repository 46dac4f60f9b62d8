// Package peers bounds the connections of a server, and the requests of callers that have shown no
// token and no certificate, so that such callers keep nobody out.
package peers
