package eos

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func take(t *testing.T, dir string) *identity {
	t.Helper()
	id, err := takeIdentity("orders", "", dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, id.release()) })
	return id
}

func TestIdentitiesOfOneHostAreNumbered(t *testing.T) {
	t.Parallel()
	host, err := os.Hostname()
	require.NoError(t, err)
	dir := t.TempDir()
	first, second := take(t, dir), take(t, dir)
	require.Equal(t, host+".0", first.instance)
	require.Equal(t, host+".1", second.instance)
	require.False(t, first.configured)

	other, err := takeIdentity("orders-eu", "", dir)
	require.NoError(t, err)
	require.Equal(t, host+".0", other.instance, "each application counts for itself")
	require.NoError(t, other.release())

	require.NoError(t, first.release())
	require.Equal(t, host+".0", take(t, dir).instance, "a free index is taken again")
}

func TestConfiguredIdentityTakesNoLock(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "never-made")
	id, err := takeIdentity("orders", "blue", dir)
	require.NoError(t, err)
	require.Equal(t, &identity{instance: "blue", configured: true}, id)
	require.NoError(t, id.release())
	require.NoDirExists(t, dir)
}

func TestIdentityWithoutAStateFolder(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := takeIdentity("orders", "", file)
	require.EqualError(t, err, "eos: the state folder cannot be made: mkdir "+file+": not a directory; set StateDir or InstanceID")
	require.ErrorIs(t, err, ErrConfig)
}

// identityHolderDir makes this test binary hold an identity until it is killed.
const identityHolderDir = "WEIR_TEST_IDENTITY_DIR"

// TestKilledProcessFreesItsIdentity starts this test again as a process that
// holds index 0.
func TestKilledProcessFreesItsIdentity(t *testing.T) {
	if dir := os.Getenv(identityHolderDir); dir != "" {
		holdIdentity(dir)
		return
	}
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledProcessFreesItsIdentity$")
	cmd.Env = append(os.Environ(), identityHolderDir+"="+dir)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	held, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(held, ".0\n"), held)
	require.True(t, strings.HasSuffix(take(t, dir).instance, ".1"), "index 0 is held by a live process")

	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	_ = in.Close() // only its end could have let the process go
	require.True(t, strings.HasSuffix(take(t, dir).instance, ".0"), "the dead process's index is free")
}

// holdIdentity takes an identity, says so, and waits to be killed.
func holdIdentity(dir string) {
	id, err := takeIdentity("orders", "", dir)
	if err != nil {
		panic(err)
	}
	if _, err := fmt.Fprintln(os.Stdout, id.instance); err != nil {
		panic(err)
	}
	_, _ = os.Stdin.Read(make([]byte, 1))
	_ = id.release()
}
