package kafkatest

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/cache"
	"github.com/weirstream/weir/internal/kafkaproc"
)

//go:embed Reader.java
var readerSource []byte

// ReadCommittedJava is ReadCommitted by Kafka's own Java consumer: an
// implementation of read_committed that shares no code with the one under
// test. It reads each partition until its position is at the LSO of the start.
func (c *Cluster) ReadCommittedJava(t testing.TB, topics ...string) []Record {
	t.Helper()
	return c.readJava(t, "read_committed", topics)
}

// ReadUncommittedJava is ReadUncommitted by Kafka's own Java consumer.
func (c *Cluster) ReadUncommittedJava(t testing.TB, topics ...string) []Record {
	t.Helper()
	return c.readJava(t, "read_uncommitted", topics)
}

func (c *Cluster) readJava(t testing.TB, isolation string, topics []string) []Record {
	t.Helper()
	file := filepath.Join(t.TempDir(), "records")
	c.runJava(t, isolation, file, topics)
	var records []Record
	for r, err := range RecordsInFile(file) {
		if err != nil {
			t.Fatalf("kafkatest: java reader: %v", err)
		}
		records = append(records, r)
	}
	sortRecords(records)
	return records
}

// WriteCommittedJava is ReadCommittedJava for topics that are too big for
// memory: it writes the records to a file, for RecordsInFile. Their order is
// that of the offsets within a partition; partitions are mixed.
func (c *Cluster) WriteCommittedJava(t testing.TB, file string, topics ...string) {
	t.Helper()
	c.runJava(t, "read_committed", file, topics)
}

func (c *Cluster) runJava(t testing.TB, isolation, file string, topics []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	classpath, err := readerClasspath(ctx)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{
		"-cp", classpath, "-Xmx256m", "-XX:TieredStopAtLevel=1", "Reader",
		strings.Join(c.brokers, ","), isolation, file,
	}
	cmd := exec.CommandContext(ctx, kafkaproc.JavaTool("java"), append(args, topics...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("kafkatest: java reader of %v: %v\n%s", topics, err, out)
	}
}

// readerClasspath compiles Reader.java into the cache, once per content, and
// returns the class path to run it with.
func readerClasspath(ctx context.Context) (string, error) {
	jars, err := kafkaproc.Jars(ctx, slog.Default())
	if err != nil {
		return "", err
	}
	kept, err := cache.Dir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(kept, fmt.Sprintf("reader-%s-%x", kafkaproc.Version, sha256.Sum256(readerSource)))
	_, err = cache.Once(ctx, dir, func(tmp string) error {
		source := filepath.Join(tmp, "Reader.java")
		if err := os.WriteFile(source, readerSource, 0o600); err != nil {
			return fmt.Errorf("kafkatest: java reader: %w", err)
		}
		var out bytes.Buffer
		cmd := exec.CommandContext(ctx, kafkaproc.JavaTool("javac"), "-cp", filepath.Join(jars, "*"), "-d", tmp, source)
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("kafkatest: javac (a JDK is needed): %w\n%s", err, out.String())
		}
		return nil
	})
	return dir + string(os.PathListSeparator) + filepath.Join(jars, "*"), err
}
