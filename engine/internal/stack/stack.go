// Package stack saves time in goroutines that end soon after a deep chain of calls.
package stack

// size is the room that Grow makes: calls of a server and of a client need about as much.
const size = 12 << 10

// Grow makes the stack of a new goroutine as large as a call needs. Otherwise the runtime doubles it
// several times on the way, and copies it from ever deeper calls.
//
//go:noinline
func Grow() {
	var room [size]byte
	use(&room)
}

// use keeps room on the stack.
//
//go:noinline
func use(room *[size]byte) { room[0] = 1 }
