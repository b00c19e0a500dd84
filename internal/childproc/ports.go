package childproc

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
)

// FreePorts finds ports that nobody listens on, below the range that Linux
// hands to outgoing connections, so that a node finds its own again after a
// restart.
func FreePorts(ctx context.Context, n int) ([]int, error) {
	const lowest, span, tries = 20000, 12000, 1000
	var config net.ListenConfig
	var ports []int
	for range tries {
		port := lowest + rand.IntN(span)
		l, err := config.Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		defer func() { _ = l.Close() }() // held until all are found, so that they differ
		if ports = append(ports, port); len(ports) == n {
			return ports, nil
		}
	}
	return nil, fmt.Errorf("childproc: no %d free ports between %d and %d", n, lowest, lowest+span)
}
