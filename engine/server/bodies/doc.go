// Package bodies counts the memory of requests while they are read, unpacked and decoded, so that a budget
// can refuse them before they need more.
package bodies

// Media types.
const (
	JSON  = "application/json"
	Lines = "application/x-ndjson"
)
