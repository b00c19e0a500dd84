package cache_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/weirstream/weir/internal/cache"
)

// TestOnceUnderRace has many callers want the same folder; the lock is on the
// file, so processes are kept apart in the same way.
func TestOnceUnderRace(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "cache")
	var built atomic.Int32
	var group errgroup.Group
	for range 8 {
		group.Go(func() error {
			got, err := cache.Once(t.Context(), dir, func(tmp string) error {
				built.Add(1)
				return os.WriteFile(filepath.Join(tmp, "file"), []byte("whole"), 0o600)
			})
			if err != nil {
				return err
			}
			_, err = os.Stat(filepath.Join(got, "file"))
			return err
		})
	}
	require.NoError(t, group.Wait())
	require.EqualValues(t, 1, built.Load())
}

func TestOnceLeavesNothingAfterAFailure(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	dir := filepath.Join(parent, "cache")
	full := errors.New("disk full")
	_, err := cache.Once(t.Context(), dir, func(string) error { return full })
	require.ErrorIs(t, err, full)
	left, err := filepath.Glob(filepath.Join(parent, "cache.tmp-*"))
	require.NoError(t, err)
	require.Empty(t, left)
	require.NoDirExists(t, dir)

	got, err := cache.Once(t.Context(), dir, func(string) error { return nil })
	require.NoError(t, err)
	require.DirExists(t, got)
}
