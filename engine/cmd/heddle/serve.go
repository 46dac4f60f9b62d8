//go:build !core

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/config"
	"heddle/engine"
	"heddle/engine/cluster"
	"heddle/engine/cluster/collections"
	"heddle/engine/cluster/member"
	"heddle/engine/cmd/heddle/internal/daemon"
	"heddle/engine/cmd/heddle/internal/memlimit"
	"heddle/engine/index/synonym"
	"heddle/engine/server"
	"heddle/engine/server/catalog"
	"heddle/engine/server/watch"
)

type serveOptions struct {
	flagsOnly
	settings
	indexes, tables []string               // NAME=FILE
	shards          []string               // manifests
	synonyms        map[string]os.FileInfo // daemon.Options.SynonymsRead
}

func newServe(a *App) *cobra.Command {
	c := a.command(&cobra.Command{
		Use:   "serve (--index NAME=FILE | --table NAME=FILE | --dev DIR | --cluster URL | --shards FILE)…",
		Short: "Serve indexes and tables over HTTP and gRPC",
		Long: `Serve answers queries on indexes and tables for other programs, in any language: HTTP with
JSON, Connect, gRPC and gRPC-Web on one port, HTTP/1.1 and HTTP/2. GET /openapi.json
describes the routes; engine/server/README.md has examples.

--dev serves every .hdl and .hdb file of a folder under its base name, and every collection and
folder of .hdb files in it. FILE of --index may be the folder of a collection (heddle collection):
the server follows its changes, and opens only new segments. FILE of --table may be a folder of
.hdb files with equal columns (heddle bitmap append). --index and --table
replace the keys server.indexes and server.tables of the configuration, which also holds
the limits of requests in section [server].

With --cluster, --node and --data, serve is a node of a cluster: it holds the shards that the
map of the cluster gives it, in files below --data, and answers the servers of the cluster over
NATS and over HTTP at --listen. Without NATS it starts from the maps of its last run. With
--cluster but without --node, serve holds no shards, and answers all requests from the nodes.
The flags --cluster-… name the files of keys, certificates and tokens for NATS and the nodes.
heddle cluster dev starts a cluster on one machine.

--cluster FILE, in JSON or TOML, is a cluster without NATS. Its members are nodes (URLs by
name) and collections: manifests of heddle cluster split, in which each shard has replicas
(names of nodes). --shards MANIFEST serves the shards that lie beside a manifest to such
servers. A change of the shards needs a higher epoch in both files.

When the server accepts connections, standard output gets the line
"listening on http://ADDRESS", and with --admin "administration on http://ADDRESS".
GET /livez succeeds from then on, and GET /readyz when the processors are open and the files
are in service. GET /console/ has web pages that show the work of the server; --console=false
turns them off. A service of systemd may have Type=notify: it starts when the server is ready.

--tokens names a file of tokens, which heddle serve token creates. --cert and --key turn TLS
on; --client-ca asks for certificates of clients. Without tokens and certificates of clients
the server knows no callers, and refuses an address that is not loopback unless --insecure
is given, and requests that name another host (--hosts). --admin serves administration on
another address: metrics for Prometheus, profiles (/debug/pprof), load, reload, unload,
drain and the settings. It needs tokens of role admin or certificates of --admin-ca. It loads
files below --root only.

SIGTERM drains the server: it reports not ready, still answers for --drain-delay, finishes
the running requests, and ends. A second signal ends it at once. SIGHUP reads all files
again and changes to their new contents without a gap: indexes, tables, tokens,
certificates, synonyms, and from the configuration the limits (server.max_...),
server.slow_query, server.synonyms and the log level. A file with an error leaves the old content
in service. The server notices new tokens, certificates, synonyms and configurations itself
(server.poll), and with --watch new contents of indexes and tables. With --dev and --watch a file
or collection that is renamed into the folder is in service within a second, and one that leaves
is no longer served.`,
		Example: `  heddle serve --index books=books.hdl --table flights=flights.hdb
  heddle serve --dev . --listen 127.0.0.1:0 --admin 127.0.0.1:0
  heddle serve --dev . --listen 0.0.0.0:7700 --tokens tokens --cert server.crt --key server.key
  heddle serve --cluster nats://10.0.0.1:4222 --node n1 --data n1 --listen 127.0.0.1:0`,
	}, &serveOptions{})
	c.AddCommand(newServeToken(a))
	return c
}

func (o *serveOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringArrayVar(&o.indexes, "index", nil, "serve the index or collection `NAME=FILE`; repeatable")
	fs.StringArrayVar(&o.tables, "table", nil, "serve the table `NAME=FILE`; repeatable")
	fs.StringArrayVar(&o.shards, "shards", nil, "serve the shards beside the manifest `FILE` to coordinators; repeatable")
	o.Add(fs, append([]string{"dev", "listen", "admin", "tokens", "cert", "key", "client-ca", "admin-ca", "insecure", "hosts", "origins", "memory", "root", "console", "watch", "timeout", "drain-delay", "backend", "device", "threads", "tuning", "policy", "node", "data", "cluster-token"}, clusterKeys...)...)
}

func (o *serveOptions) Run(ctx context.Context, a *App) (err error) {
	defer memlimit.Idle()()
	read := daemon.Look(o.sources(a))
	c, log, err := o.load(a)
	if err != nil {
		return err
	}
	defer zerolog.SetGlobalLevel(zerolog.GlobalLevel())
	daemon.SetLevel(c.Log)
	log = log.Level(zerolog.TraceLevel) // the global level rules, which a reload changes
	if c.Cluster.Node != "" {
		return o.serveNode(ctx, a, c, log)
	}
	opt, dev, err := o.options(c, log)
	if err != nil {
		return usageError{err}
	}
	var parts server.Services
	if o.shards != nil {
		parts = append(parts, &member.Files{Manifests: o.shards})
	}
	dirs, err := takeCollections(opt.Indexes)
	if err != nil {
		return usageError{err}
	}
	work := o.daemon(a, c, log, read)
	work.Synonyms, work.SynonymsRead = readSynonyms, o.synonyms
	if work.Content = dev; c.Cluster.Servers == "" {
		changing := collections.New(dirs, thisBuild().String(), log)
		defer func() { err = errors.Join(err, changing.Close()) }()
		parts, opt.Collections, opt.Changer = append(parts, changing), changing.Coordinator(cluster.Options{Timeout: c.Server.Timeout, Limits: engine.Limits{Expansions: c.Limits.Expansions}}), changing
		work.Collections = changing
	}
	if parts != nil {
		opt.Service = parts
	}
	d, err := daemon.New(ctx, work)
	if err != nil {
		return err
	}
	if c.Cluster.Servers != "" {
		g, err := member.Dial(ctx, c, log)
		if err != nil {
			return errors.Join(err, d.Discard())
		}
		defer g.Close()
		opt.Remote, opt.Cluster = g, g.Describe
	}
	return d.Run(ctx, opt)
}

// options returns the options of the server.
func (o *serveOptions) options(c *config.Config, log zerolog.Logger) (server.Options, daemon.Content, error) {
	v := c.Server
	opt := server.OptionsOf(&v, log)
	var dev daemon.Content
	if v.Dev != "" {
		var err error
		if dev, err = daemon.Read(v.Dev); err != nil {
			return opt, dev, err
		}
	}
	for _, f := range []struct {
		key, text string
		flags     []string
		to        map[string]string
		found     []map[string]string
	}{
		{"index", v.Indexes, o.indexes, opt.Indexes, []map[string]string{dev.Indexes, dev.Collections}},
		{"table", v.Tables, o.tables, opt.Tables, []map[string]string{dev.Tables}},
	} {
		files := f.flags
		if files == nil && f.text != "" {
			files = strings.Split(f.text, ",")
		}
		files = slices.Clone(files)
		for _, found := range f.found {
			for _, name := range slices.Sorted(maps.Keys(found)) {
				files = append(files, name+"="+found[name])
			}
		}
		for _, text := range files {
			if err := addFile(f.to, strings.TrimSpace(text)); err != nil {
				return opt, dev, fmt.Errorf("--%s: %w", f.key, err)
			}
		}
	}
	var err error
	if opt.Synonyms, o.synonyms, err = readSynonyms(c); err != nil {
		return opt, dev, fmt.Errorf("server.synonyms: %w", err)
	}
	if v.Watch && v.Poll == 0 {
		return opt, dev, errors.New("--watch needs server.poll above 0")
	}
	if c.Cluster.Servers != "" {
		if len(opt.Indexes)+len(opt.Tables) > 0 {
			return opt, dev, errors.New("--cluster excludes --index, --table and --dev: a server has its own files or those of a cluster")
		}
		return opt, dev, nil
	}
	for name := range opt.Synonyms {
		if opt.Indexes[name] == "" {
			return opt, dev, fmt.Errorf("server.synonyms: no index is named %s", name)
		}
	}
	if c.Cluster.Data != "" {
		return opt, dev, errors.New("--data needs --cluster and --node")
	}
	if len(opt.Indexes)+len(opt.Tables)+len(o.shards) == 0 && (v.Dev == "" || !v.Watch) {
		if v.Dev != "" {
			return opt, dev, fmt.Errorf("folder %s has no .hdl and no .hdb file, and no collection", v.Dev)
		}
		return opt, dev, errors.New("nothing to serve: give --index, --table, --dev, --cluster or --shards")
	}
	return opt, dev, nil
}

// synonymFiles returns the files of synonyms by index: NAME=FILE, separated by commas.
func synonymFiles(c *config.Config) (map[string]string, error) {
	paths := map[string]string{}
	if c.Server.Synonyms == "" {
		return paths, nil
	}
	for file := range strings.SplitSeq(c.Server.Synonyms, ",") {
		if err := addFile(paths, strings.TrimSpace(file)); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// readSynonyms reads the files of synonyms, and returns their states from before.
func readSynonyms(c *config.Config) (all map[string]*synonym.Rules, read map[string]os.FileInfo, err error) {
	paths, err := synonymFiles(c)
	read = watch.Look(slices.Collect(maps.Values(paths))...)
	all = map[string]*synonym.Rules{}
	for name, path := range paths {
		rules, wrong := readRules(path)
		all[name], err = rules, errors.Join(err, wrong)
	}
	return all, read, err
}

// addFile adds NAME=FILE to files.
func addFile(files map[string]string, text string) error {
	name, path, ok := strings.Cut(text, "=")
	if !ok || path == "" {
		return fmt.Errorf("%q: want NAME=FILE", text)
	}
	if err := catalog.CheckName(name); err != nil {
		return err
	}
	if old, taken := files[name]; taken {
		return fmt.Errorf("%s and %s have the same name %s", old, path, name)
	}
	files[name] = path
	return nil
}
