package eos

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// identity is the name of this process in the group.
type identity struct {
	// instance is the group.instance.id and the member part of every
	// transactional.id.
	instance string
	// configured: the user named it, so it stays in the group at shutdown.
	configured bool
	lock       *flock.Flock
}

func defaultStateDir() string { return filepath.Join(os.TempDir(), "weir") }

// maxInstances bounds the search for a free index on one host.
const maxInstances = 4096

// takeIdentity gives the configured instance id, or the first <host>.<n> that
// no live process of this application holds. The kernel drops the lock when the
// process dies, so a restarted process finds its own index again.
func takeIdentity(application, configured, stateDir string) (*identity, error) {
	if configured != "" {
		return &identity{instance: configured, configured: true}, nil
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, newError(ErrConfig, "the host name cannot be read", "set InstanceID", err)
	}
	if err := checkID("host name", host); err != nil {
		return nil, newError(ErrConfig, "the host name cannot be part of an instance id", "set InstanceID", err)
	}
	dir := filepath.Join(stateDir, application)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, newError(ErrConfig, "the state folder cannot be made", "set StateDir or InstanceID", err)
	}
	for n := range maxInstances {
		lock := flock.New(filepath.Join(dir, fmt.Sprintf("member.%d.lock", n)))
		held, err := lock.TryLock()
		if err != nil {
			return nil, newError(ErrConfig, "the state folder cannot be locked", "set StateDir or InstanceID", err)
		}
		if held {
			return &identity{instance: fmt.Sprintf("%s.%d", host, n), lock: lock}, nil
		}
	}
	return nil, newError(ErrConfig, fmt.Sprintf("%d processes of %s hold an identity under %s", maxInstances, application, dir), "set InstanceID", nil)
}

// release lets another process have the index.
func (i *identity) release() error {
	if i.lock == nil {
		return nil
	}
	return i.lock.Unlock()
}
