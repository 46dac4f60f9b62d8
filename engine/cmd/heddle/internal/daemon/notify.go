package daemon

import (
	"errors"
	"fmt"
	"net"
)

// Notify sends a state such as READY=1 to systemd, if it waits for one at a socket, the value of
// NOTIFY_SOCKET (sd_notify).
func Notify(socket, state string) error {
	if socket == "" {
		return nil
	}
	c, err := net.Dial("unixgram", socket) // a leading @ is the abstract namespace
	if err == nil {
		_, err = c.Write([]byte(state))
		err = errors.Join(err, c.Close())
	}
	if err != nil {
		return fmt.Errorf("NOTIFY_SOCKET: %w", err)
	}
	return nil
}
