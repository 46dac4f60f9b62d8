package examples

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/rs/zerolog"

	"heddle/config"
	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/cluster/member"
	"heddle/engine/cluster/split"
)

// A program is a node of a cluster: it serves the shards that the map of the cluster gives it.
func Example_nodes() {
	ctx, stop := context.WithCancel(context.Background())
	folder, index, _ := files(ctx)
	defer os.RemoveAll(folder)
	control := control(filepath.Join(folder, "control"))
	defer control.Shutdown()

	c := config.Default()
	c.Cluster.Servers, c.Cluster.Node, c.Cluster.Data = control.ClientURL(), "n1", filepath.Join(folder, "n1")
	c.Server.Listen = "127.0.0.1:0"
	n := must(member.OpenNode(ctx, c, zerolog.Nop()))
	defer n.Close()
	e := must(engine.New(ctx, engine.Options{}))
	defer e.Close()
	started, ended := make(chan struct{}), make(chan error)
	go func() {
		ended <- n.Serve(ctx, e, member.Events{Listening: func() error { close(started); return nil }})
	}()

	select {
	case <-started: // another program publishes an index in two shards, and asks the nodes
	case err := <-ended:
		panic(err)
	}
	g := must(member.Dial(ctx, c, zerolog.Nop()))
	parts := filepath.Join(folder, "parts")
	m := must(split.File(ctx, index, parts, split.Options{Shards: 2}))
	m.Name = "books"
	check(g.Operator().Wait(ctx, m.Name, must(g.Operator().Publish(ctx, m, 1, parts))))
	best, _, err := g.Search(ctx, "books", engine.Query{Text: "white sea", K: 2}, api.Ask{Names: true})
	check(err)
	fmt.Println(best.Names, "of", len(m.Shards), "shards")
	check(g.Close())
	stop()
	check(<-ended)
	// Output:
	// [whale balloon] of 2 shards
}

// control starts a NATS server with JetStream, which keeps the map of the cluster. A service runs three of them.
func control(dir string) *server.Server {
	s := must(server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true, JetStream: true, StoreDir: dir}))
	s.Start()
	if !s.ReadyForConnections(time.Minute) {
		check(context.DeadlineExceeded)
	}
	return s
}
