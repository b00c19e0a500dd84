package faultproxy

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
)

// Dialer returns the function for kgo.Dialer that leads a client to the proxy:
// an address found in addrs (broker -> proxy) is replaced, any other is dialled
// as it is.
func Dialer(addrs map[string]string) func(ctx context.Context, network, host string) (net.Conn, error) {
	return func(ctx context.Context, network, host string) (net.Conn, error) {
		if to, ok := addrs[host]; ok {
			host = to
		}
		var d net.Dialer
		return d.DialContext(ctx, network, host)
	}
}

// Env writes the map as broker=proxy,broker=proxy for an environment variable.
func Env(addrs map[string]string) string {
	pairs := make([]string, 0, len(addrs))
	for from, to := range addrs {
		pairs = append(pairs, from+"="+to)
	}
	slices.Sort(pairs)
	return strings.Join(pairs, ",")
}

// ParseEnv is the inverse of Env; the empty string is the empty map.
func ParseEnv(s string) (map[string]string, error) {
	addrs := make(map[string]string)
	if s == "" {
		return addrs, nil
	}
	for pair := range strings.SplitSeq(s, ",") {
		from, to, ok := strings.Cut(pair, "=")
		if !ok || from == "" || to == "" {
			return nil, fmt.Errorf("faultproxy: %q: want broker=proxy,broker=proxy with host:port each", s)
		}
		addrs[from] = to
	}
	return addrs, nil
}
