package crashtest

import "sync"

// tailBytes is how much of a worker's log is kept.
const tailBytes = 16 << 10

// tail is a writer that keeps the end of what was written.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if n := len(t.buf) - tailBytes; n > tailBytes { // cut seldom, not at every line
		t.buf = append([]byte(nil), t.buf[n:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf[max(0, len(t.buf)-tailBytes):])
}
