package kafkaproc

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/weirstream/weir/internal/childproc"
)

// node is one Kafka process and what survives its restarts.
type node struct {
	id             int    // immutable; Kafka's node.id, counted from 0
	dir            string // immutable
	port           int    // immutable; clients
	controllerPort int    // immutable; quorum

	mu   sync.Mutex
	proc *childproc.Process // nil before the first start and after kill
}

func (n *node) file(name string) string { return filepath.Join(n.dir, name) }

func (n *node) addr() string { return fmt.Sprintf("127.0.0.1:%d", n.port) }

// format prepares the node's log directory, as a KRaft node needs once.
func (c *Cluster) format(ctx context.Context, n *node) error {
	cmd := exec.CommandContext(ctx, java(), "-cp", filepath.Join(c.jars, "*"), "-Xmx256m",
		"-XX:TieredStopAtLevel=1", "-Dlog4j.configuration=file:"+n.file("log4j.properties"),
		"kafka.tools.StorageTool", "format", "-t", clusterID, "-c", n.file("server.properties"))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("kafkaproc: node %d: format: %w\n%s", n.id, err, out)
	}
	return nil
}

// start runs the node's process; it does not wait until it serves.
func (c *Cluster) start(n *node) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc != nil && n.proc.Running() {
		return fmt.Errorf("kafkaproc: node %d is already running", n.id)
	}
	out, err := os.OpenFile(n.file("server.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("kafkaproc: node %d: %w", n.id, err)
	}
	args := []string{
		"-cp", filepath.Join(c.jars, "*"), fmt.Sprintf("-Xmx%dm", c.opts.HeapMB),
		"-Dlog4j.configuration=file:" + n.file("log4j.properties"),
	}
	args = append(args, c.opts.JVMArgs...)
	args = append(args, "kafka.Kafka", n.file("server.properties"))
	cmd := exec.Command(java(), args...) //nolint:noctx // it outlives every context; Kill and Stop end it
	cmd.Stdout, cmd.Stderr, cmd.Dir = out, out, n.dir
	if n.proc, err = childproc.Start(cmd, nil, out); err != nil {
		return fmt.Errorf("kafkaproc: node %d: java is needed to run Kafka: %w", n.id, err)
	}
	return nil
}

// signal sends sig to the node's process.
func (n *node) signal(sig syscall.Signal) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc == nil {
		return fmt.Errorf("kafkaproc: node %d is not running", n.id)
	}
	if err := n.proc.Signal(sig); err != nil {
		return fmt.Errorf("kafkaproc: node %d: %v: %w", n.id, sig, err)
	}
	return nil
}

// end sends sig and waits until the process is gone; nothing happens to a node
// that does not run.
func (n *node) end(ctx context.Context, sig syscall.Signal) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc == nil {
		return nil
	}
	if err := n.proc.End(ctx, sig); err != nil {
		return fmt.Errorf("kafkaproc: node %d: %w", n.id, err)
	}
	n.proc = nil
	return nil
}

// dead returns a channel that is closed when the node's process has ended.
func (n *node) dead() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc == nil {
		gone := make(chan struct{})
		close(gone)
		return gone
	}
	return n.proc.Exited()
}

// logTail returns the last lines of the node's log, for errors.
func (n *node) logTail() string { return childproc.LogTail(n.file("server.log"), 40) }

// java is $JAVA_HOME/bin/java, else the java in the PATH.
func java() string { return JavaTool("java") }

// JavaTool is the path of a program of the Java installation, such as javac: in
// $JAVA_HOME/bin if that is set, else looked up in the PATH when it is run.
func JavaTool(name string) string {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		return filepath.Join(home, "bin", name)
	}
	return name
}
