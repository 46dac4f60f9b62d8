package main

import (
	"errors"
	"fmt"
	"net"
)

// notify sends a state such as READY=1 to systemd, if it waits for one (sd_notify).
func (a *App) notify(state string) error {
	path := a.Getenv("NOTIFY_SOCKET")
	if path == "" {
		return nil
	}
	c, err := net.Dial("unixgram", path) // a leading @ is the abstract namespace
	if err == nil {
		_, err = c.Write([]byte(state))
		err = errors.Join(err, c.Close())
	}
	if err != nil {
		return fmt.Errorf("NOTIFY_SOCKET: %w", err)
	}
	return nil
}
