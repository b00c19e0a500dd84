package faultproxy

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"time"
)

// maxFrame is the largest frame that is believed: Kafka's default for
// socket.request.max.bytes is 100 MiB.
const maxFrame = 256 << 20

// inTransit is how many frames a direction of a connection holds on their way;
// the sender waits when it is full. It is far above what clients pipeline.
const inTransit = 1024

// frame is a message on its way through one direction of a connection.
type frame struct {
	bytes []byte // with its length in front
	due   time.Time
	gate  <-chan struct{} // nil: not held
	ex    *Exchange
}

// readFrame reads one message, its length included.
func readFrame(r *bufio.Reader) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n < 4 || n > maxFrame {
		return nil, fmt.Errorf("faultproxy: a frame of %d bytes is not Kafka's protocol", n)
	}
	b := make([]byte, 4+n)
	copy(b, size[:])
	_, err := io.ReadFull(r, b[4:])
	return b, err
}

// clock gives the frames of one direction their times of arrival.
type clock struct {
	free time.Time // when the link has sent what it was given
}

// due is when a frame that starts now arrives; zero means at once. A frame
// occupies the link for its size; the latency comes on top and is shared by all
// that is under way.
func (c *clock) due(l Link, size int, delay time.Duration) time.Time {
	if l.Latency == 0 && l.BytesPerSecond == 0 && delay == 0 {
		return time.Time{}
	}
	now := time.Now()
	sent := now
	if l.BytesPerSecond > 0 {
		if c.free.After(now) {
			sent = c.free
		}
		sent = sent.Add(time.Duration(float64(size) / float64(l.BytesPerSecond) * float64(time.Second)))
		c.free = sent
	}
	return sent.Add(l.Latency + delay)
}

// arrive waits until a frame is let go and due; false means that the proxy is
// closed.
func (p *Proxy) arrive(f frame) bool {
	if f.gate != nil {
		select {
		case <-f.gate:
		case <-p.done:
			return false
		}
	}
	return p.sleepUntil(f.due)
}

// sleepUntil is exact to the kernel's timer: a Go timer may be late by a
// millisecond, so the last stretch is left to preciseSleep.
func (p *Proxy) sleepUntil(due time.Time) bool {
	const stretch = 1100 * time.Microsecond
	if due.IsZero() {
		return true
	}
	if wait := time.Until(due) - stretch; wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-p.done:
			return false
		}
	}
	if wait := time.Until(due); wait > 0 {
		preciseSleep(wait)
	}
	return true
}
