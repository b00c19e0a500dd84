package kafkatest

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/internal/kafkaproc"
)

// startTimeout bounds a start, the download of the jars included.
const startTimeout = 10 * time.Minute

// opTimeout bounds each single helper call that talks to the cluster.
const opTimeout = 60 * time.Second

// Cluster is a Kafka for tests. Its methods may be called from any goroutine of
// the test, except that those which can fail the test follow t.FailNow's rule.
type Cluster struct {
	brokers []string
	proc    *kafkaproc.Cluster // nil: started by somebody else
	private bool
}

// shared is the cluster of this test binary. It is package state because the
// tests of one binary have nothing else in common; Main ends its life.
var shared struct {
	sync.Mutex
	cluster *Cluster
}

// Option changes what Start returns; any option makes the cluster private.
type Option func(*kafkaproc.Options)

// Private asks for a cluster that no other test sees, so that its nodes may be
// killed. It ends with the test.
func Private() Option { return func(*kafkaproc.Options) {} }

// Nodes asks for a private cluster of n nodes: 1 or 3.
func Nodes(n int) Option { return func(o *kafkaproc.Options) { o.Nodes = n } }

// Config asks for a private cluster with a broker property set.
func Config(key, value string) Option {
	return func(o *kafkaproc.Options) {
		if o.Config == nil {
			o.Config = make(map[string]string)
		}
		o.Config[key] = value
	}
}

// Main runs the tests, stops the shared cluster and ends the process.
func Main(m *testing.M) { os.Exit(Stop(m.Run())) }

// Stop stops the shared cluster, if there is one, for test binaries that have
// other things to stop. It returns the exit code of the tests, or 1.
func Stop(code int) int {
	shared.Lock()
	defer shared.Unlock()
	if shared.cluster == nil || shared.cluster.proc == nil {
		return code
	}
	if err := shared.cluster.proc.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "kafkatest:", err)
		return max(code, 1)
	}
	return code
}

// Start returns the shared cluster, or with options a private one that stops
// when the test ends. It fails the test if there is no Kafka to be had.
func Start(t testing.TB, opts ...Option) *Cluster {
	t.Helper()
	if len(opts) > 0 {
		var o kafkaproc.Options
		for _, opt := range opts {
			opt(&o)
		}
		c := run(t, o)
		c.private = true
		t.Cleanup(func() {
			if err := c.proc.Stop(); err != nil {
				t.Errorf("kafkatest: %v", err)
			}
		})
		return c
	}
	shared.Lock()
	defer shared.Unlock()
	if shared.cluster != nil {
		return shared.cluster
	}
	if env := os.Getenv("WEIR_TEST_KAFKA"); env != "" {
		shared.cluster = &Cluster{brokers: strings.Split(env, ",")}
	} else {
		shared.cluster = run(t, kafkaproc.Options{})
	}
	return shared.cluster
}

func run(t testing.TB, o kafkaproc.Options) *Cluster {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	started := time.Now()
	proc, err := kafkaproc.Start(ctx, o)
	if err != nil {
		t.Fatalf("kafkatest: these tests need a real Kafka (java and mvn, or WEIR_TEST_KAFKA=host:port): %v", err)
	}
	t.Logf("kafkatest: Kafka %s at %v after %v", kafkaproc.Version, proc.Brokers(), time.Since(started).Round(time.Millisecond))
	return &Cluster{brokers: proc.Brokers(), proc: proc}
}

// Brokers returns the seed addresses, host:port.
func (c *Cluster) Brokers() []string { return c.brokers }

// Client returns a client of the cluster that closes when the test ends.
func (c *Cluster) Client(t testing.TB, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(c.brokers...)}, opts...)...)
	if err != nil {
		t.Fatalf("kafkatest: client: %v", err)
	}
	t.Cleanup(client.Close)
	return client
}

// Admin returns an admin client that closes when the test ends.
func (c *Cluster) Admin(t testing.TB) *kadm.Client {
	t.Helper()
	return kadm.NewClient(c.Client(t))
}

// Kill ends a node with SIGKILL. The cluster must be private.
func (c *Cluster) Kill(t testing.TB, node int) {
	t.Helper()
	c.own(t, "kill a node")
	if err := c.proc.Kill(node); err != nil {
		t.Fatal(err)
	}
}

// Shutdown ends a node with SIGTERM. The cluster must be private.
func (c *Cluster) Shutdown(t testing.TB, node int) {
	t.Helper()
	c.own(t, "shut a node down")
	ctx, cancel := context.WithTimeout(context.Background(), opTimeout)
	defer cancel()
	if err := c.proc.Shutdown(ctx, node); err != nil {
		t.Fatal(err)
	}
}

// Signal sends SIGSTOP, SIGCONT or another signal to a node. The cluster must
// be private.
func (c *Cluster) Signal(t testing.TB, node int, sig syscall.Signal) {
	t.Helper()
	c.own(t, "signal a node")
	if err := c.proc.Signal(node, sig); err != nil {
		t.Fatal(err)
	}
}

// StartNode runs a killed node again and returns when it serves. The cluster
// must be private.
func (c *Cluster) StartNode(t testing.TB, node int) {
	t.Helper()
	c.own(t, "start a node")
	ctx, cancel := context.WithTimeout(context.Background(), 2*opTimeout)
	defer cancel()
	if err := c.proc.StartNode(ctx, node); err != nil {
		t.Fatal(err)
	}
}

// own fails the test if other tests use the cluster too.
func (c *Cluster) own(t testing.TB, what string) {
	t.Helper()
	if !c.private {
		t.Fatalf("kafkatest: to %s the test needs a cluster of its own: Start(t, kafkatest.Private())", what)
	}
}
