package kafkaproc

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// Version is the Kafka release that pom.xml names.
const Version = "3.9.2"

//go:embed pom.xml
var pom []byte

// CacheDir is where downloaded and compiled files are kept between runs:
// $WEIR_CACHE, else "weir" in the user's cache folder. It need not exist yet.
func CacheDir() (string, error) {
	if dir := os.Getenv("WEIR_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("kafkaproc: no cache folder, set WEIR_CACHE: %w", err)
	}
	return filepath.Join(dir, "weir"), nil
}

// Jars returns the folder that holds Kafka's jars (server, tools and client),
// filling it with Maven on first use. The time of a download is logged, so that
// it is not mistaken for the time of a test.
//
// The folder is filled under a file lock and appears by a rename, so two
// processes that race for it both find it complete, and a killed download
// leaves nothing that looks complete.
func Jars(ctx context.Context, log *slog.Logger) (string, error) {
	cache, err := CacheDir()
	if err != nil {
		return "", err
	}
	build := func(tmp string) error { return download(ctx, log, tmp) }
	return Once(ctx, filepath.Join(cache, "kafka-"+Version), build)
}

// Once returns dir after build has filled it exactly once across all processes
// of this machine. build gets an empty folder beside dir, which is renamed to
// dir when build returns nil and removed otherwise.
func Once(ctx context.Context, dir string, build func(tmp string) error) (_ string, err error) {
	if exists(dir) {
		return dir, nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", fmt.Errorf("kafkaproc: cache: %w", err)
	}
	lock := flock.New(dir + ".lock")
	if _, err := lock.TryLockContext(ctx, 50*time.Millisecond); err != nil {
		return "", fmt.Errorf("kafkaproc: lock %s: %w", lock.Path(), err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if exists(dir) {
		return dir, nil
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".tmp-")
	if err != nil {
		return "", fmt.Errorf("kafkaproc: cache: %w", err)
	}
	if err := build(tmp); err != nil {
		return "", errors.Join(err, os.RemoveAll(tmp))
	}
	if err := os.Rename(tmp, dir); err != nil {
		return "", fmt.Errorf("kafkaproc: cache: %w", err)
	}
	return dir, nil
}

func exists(dir string) bool {
	_, err := os.Stat(dir)
	return !errors.Is(err, fs.ErrNotExist)
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
