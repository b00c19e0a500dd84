// Package cache keeps what is downloaded or compiled once for a machine.
package cache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// Dir is where downloaded and compiled files are kept between runs:
// $WEIR_CACHE, else "weir" in the user's cache folder. It need not exist yet.
func Dir() (string, error) {
	if dir := os.Getenv("WEIR_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("cache: no cache folder, set WEIR_CACHE: %w", err)
	}
	return filepath.Join(dir, "weir"), nil
}

// Once returns dir after build has filled it exactly once across all processes
// of this machine. build gets an empty folder beside dir, which is renamed to
// dir when build returns nil and removed otherwise.
func Once(ctx context.Context, dir string, build func(tmp string) error) (_ string, err error) {
	if exists(dir) {
		return dir, nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", fmt.Errorf("cache: %w", err)
	}
	lock := flock.New(dir + ".lock")
	if _, err := lock.TryLockContext(ctx, 50*time.Millisecond); err != nil {
		return "", fmt.Errorf("cache: lock %s: %w", lock.Path(), err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if exists(dir) {
		return dir, nil
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".tmp-")
	if err != nil {
		return "", fmt.Errorf("cache: %w", err)
	}
	if err := build(tmp); err != nil {
		return "", errors.Join(err, os.RemoveAll(tmp))
	}
	if err := os.Rename(tmp, dir); err != nil {
		return "", fmt.Errorf("cache: %w", err)
	}
	return dir, nil
}

func exists(dir string) bool {
	_, err := os.Stat(dir)
	return !errors.Is(err, fs.ErrNotExist)
}
