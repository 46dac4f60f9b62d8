// Package control runs a NATS server with JetStream in this process: the control node of a cluster
// on one machine.
package control

import (
	"errors"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Node is a running control node.
type Node struct{ *server.Server }

// Start starts a control node on a free port of this machine. It keeps its data in a folder.
func Start(dir string) (Node, error) {
	s, err := server.NewServer(&server.Options{
		ServerName: "heddle", Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: dir, SyncAlways: true, PingInterval: time.Second,
	})
	if err != nil {
		return Node{}, err
	}
	n := Node{s}
	s.Start()
	if !s.ReadyForConnections(time.Minute) {
		n.Stop()
		return Node{}, errors.New("the NATS server has not started within a minute")
	}
	return n, nil
}

// Stop ends the control node.
func (n Node) Stop() {
	n.Shutdown()
	n.WaitForShutdown()
}
