package kafkaproc

import (
	"context"
	_ "embed"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/weirstream/weir/internal/cache"
)

// Version is the Kafka release that pom.xml names.
const Version = "3.9.2"

//go:embed pom.xml
var pom []byte

// Jars returns the folder that holds Kafka's jars (server, tools and client),
// filling it with Maven on first use. The time of a download is logged, so that
// it is not mistaken for the time of a test.
//
// The folder is filled under a file lock and appears by a rename, so two
// processes that race for it both find it complete, and a killed download
// leaves nothing that looks complete.
func Jars(ctx context.Context, log *slog.Logger) (string, error) {
	dir, err := cache.Dir()
	if err != nil {
		return "", err
	}
	build := func(tmp string) error { return download(ctx, log, tmp) }
	return cache.Once(ctx, filepath.Join(dir, "kafka-"+Version), build)
}

// download copies Kafka and all it depends on into dir.
func download(ctx context.Context, log *slog.Logger, dir string) error {
	started := time.Now()
	work, err := os.MkdirTemp("", "weir-pom-")
	if err != nil {
		return fmt.Errorf("kafkaproc: download: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	file := filepath.Join(work, "pom.xml")
	if err := os.WriteFile(file, pom, 0o600); err != nil {
		return fmt.Errorf("kafkaproc: download: %w", err)
	}
	cmd := exec.CommandContext(ctx, "mvn", "-B", "-q", "-f", file,
		"dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("kafkaproc: mvn could not fetch Kafka %s (Maven and access to Maven Central are needed once): %w\n%s",
			Version, err, out)
	}
	log.Info("kafka jars downloaded", "version", Version, "elapsed", time.Since(started).Round(time.Millisecond))
	return nil
}
