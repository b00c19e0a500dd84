package kafkaproc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/weirstream/weir/internal/childproc"
)

// clusterID is the cluster.id of every cluster started here.
const clusterID = "d2VpcnRlc3RjbHVzdGVyMQ"

// Options shape a cluster. The zero value is one node.
type Options struct {
	Nodes        int               // 1 or 3; default 1
	Config       map[string]string // broker properties, put over the defaults on every node
	HeapMB       int               // -Xmx of each node in MiB; default 512
	JVMArgs      []string          // further arguments of each node's java
	Dir          string            // parent of the cluster's folder; default the system's temporary folder
	ReadyTimeout time.Duration     // for each start of a node to serve; default 90 s
	Logger       *slog.Logger      // default slog.Default()
}

// Cluster is a running Kafka. Its methods may be called from any goroutine.
type Cluster struct {
	opts  Options
	jars  string
	dir   string
	nodes []*node
}

// Start runs a cluster and returns when every node serves: all brokers are
// registered and each answers for all of them. ctx bounds the start only (the
// jars' download included), not the life of the cluster.
//
// An error carries the end of the log of the node that failed, and nothing is
// left running. After nil the caller must call Stop.
func Start(ctx context.Context, opts Options) (*Cluster, error) {
	opts = opts.withDefaults()
	if opts.Nodes != 1 && opts.Nodes != 3 {
		return nil, fmt.Errorf("kafkaproc: %d nodes: a cluster has 1 or 3", opts.Nodes)
	}
	jars, err := Jars(ctx, opts.Logger)
	if err != nil {
		return nil, err
	}
	for range 3 {
		c, err := startOnce(ctx, opts, jars)
		if !errors.Is(err, errPortTaken) {
			return c, err
		}
	}
	return nil, fmt.Errorf("kafkaproc: three tries in a row: %w", errPortTaken)
}

func (o Options) withDefaults() Options {
	if o.Nodes == 0 {
		o.Nodes = 1
	}
	if o.HeapMB == 0 {
		o.HeapMB = 512
	}
	if o.ReadyTimeout == 0 {
		o.ReadyTimeout = 90 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o
}

func startOnce(ctx context.Context, opts Options, jars string) (_ *Cluster, err error) {
	dir, err := os.MkdirTemp(opts.Dir, "weir-kafka-")
	if err != nil {
		return nil, fmt.Errorf("kafkaproc: %w", err)
	}
	c := &Cluster{opts: opts, jars: jars, dir: dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Stop())
		}
	}()
	ports, err := childproc.FreePorts(ctx, 2*opts.Nodes)
	if err != nil {
		return nil, err
	}
	for id := range opts.Nodes {
		c.nodes = append(c.nodes, &node{
			id: id, dir: filepath.Join(dir, "node-"+strconv.Itoa(id)),
			port: ports[2*id], controllerPort: ports[2*id+1],
		})
	}
	var group errgroup.Group
	for _, n := range c.nodes {
		group.Go(func() error {
			if err := c.writeConfig(n); err != nil {
				return err
			}
			if err := c.format(ctx, n); err != nil {
				return err
			}
			return c.start(n)
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, n := range c.nodes {
		if err := c.waitReady(ctx, n, opts.Nodes); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Brokers returns host:port of every node, in the order of their ids, whether
// they run or not.
func (c *Cluster) Brokers() []string {
	addrs := make([]string, len(c.nodes))
	for i, n := range c.nodes {
		addrs[i] = n.addr()
	}
	return addrs
}

// Dir is the cluster's folder: node-<id>/server.log, server.properties, data.
func (c *Cluster) Dir() string { return c.dir }

// Kill ends a node with SIGKILL and waits until it is gone. Its data stays.
func (c *Cluster) Kill(id int) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second) //nolint:forbidigo // no caller can make SIGKILL slower
	defer cancel()
	return c.withNode(id, func(n *node) error { return n.end(ctx, syscall.SIGKILL) })
}

// Shutdown ends a node with SIGTERM, which moves its leaders away first, and
// waits until it is gone or ctx ends.
func (c *Cluster) Shutdown(ctx context.Context, id int) error {
	return c.withNode(id, func(n *node) error { return n.end(ctx, syscall.SIGTERM) })
}

// Signal sends a signal to a node, such as SIGSTOP and SIGCONT to freeze it.
func (c *Cluster) Signal(id int, sig syscall.Signal) error {
	return c.withNode(id, func(n *node) error { return n.signal(sig) })
}

// StartNode runs a node again, on its old ports and data, after Kill or
// Shutdown, and returns when it serves. Nodes that are down are not waited for.
func (c *Cluster) StartNode(ctx context.Context, id int) error {
	return c.withNode(id, func(n *node) error {
		if err := c.start(n); err != nil {
			return err
		}
		return c.waitReady(ctx, n, 1)
	})
}

func (c *Cluster) withNode(id int, do func(*node) error) error {
	if id < 0 || id >= len(c.nodes) {
		return fmt.Errorf("kafkaproc: node %d: there are %d, counted from 0", id, len(c.nodes))
	}
	return do(c.nodes[id])
}

// Stop kills every node and removes the cluster's folder. Calling it again does
// nothing.
func (c *Cluster) Stop() error {
	var errs []error
	for id := range c.nodes {
		errs = append(errs, c.Kill(id))
	}
	errs = append(errs, os.RemoveAll(c.dir))
	return errors.Join(errs...)
}
