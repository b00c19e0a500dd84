package kafkaproc

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// logConfig sends the broker's log to its standard output.
const logConfig = `log4j.rootLogger=INFO, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d{ISO8601} %p %m (%c)%n
`

// properties are the server.properties of one node.
func (c *Cluster) properties(n *node) map[string]string {
	replicas, minISR := 1, 1
	if len(c.nodes) >= 3 {
		replicas, minISR = 3, 2
	}
	voters := make([]string, len(c.nodes))
	for i, v := range c.nodes {
		voters[i] = fmt.Sprintf("%d@127.0.0.1:%d", v.id, v.controllerPort)
	}
	props := map[string]string{
		"process.roles":                            "broker,controller",
		"node.id":                                  strconv.Itoa(n.id),
		"controller.quorum.voters":                 strings.Join(voters, ","),
		"controller.listener.names":                "CONTROLLER",
		"inter.broker.listener.name":               "PLAINTEXT",
		"listener.security.protocol.map":           "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
		"listeners":                                fmt.Sprintf("PLAINTEXT://127.0.0.1:%d,CONTROLLER://127.0.0.1:%d", n.port, n.controllerPort),
		"advertised.listeners":                     fmt.Sprintf("PLAINTEXT://127.0.0.1:%d", n.port),
		"log.dirs":                                 filepath.Join(n.dir, "data"),
		"auto.create.topics.enable":                "false",
		"default.replication.factor":               strconv.Itoa(replicas),
		"min.insync.replicas":                      strconv.Itoa(minISR),
		"offsets.topic.replication.factor":         strconv.Itoa(replicas),
		"offsets.topic.num.partitions":             "5",
		"transaction.state.log.replication.factor": strconv.Itoa(replicas),
		"transaction.state.log.min.isr":            strconv.Itoa(minISR),
		"transaction.state.log.num.partitions":     "5",
		"group.initial.rebalance.delay.ms":         "0",
		"group.min.session.timeout.ms":             "1000",
		// Expired transactions are looked for this often; the default of 10 s
		// would make every test of an abandoned one wait.
		"transaction.abort.timed.out.transaction.cleanup.interval.ms": "500",
		"log.cleaner.dedupe.buffer.size":                              "33554432",
		"num.network.threads":                                         "2",
		"num.io.threads":                                              "4",
	}
	maps.Copy(props, c.opts.Config)
	return props
}

// writeConfig writes the node's configuration files.
func (c *Cluster) writeConfig(n *node) error {
	props := c.properties(n)
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(props)) {
		fmt.Fprintf(&b, "%s=%s\n", key, props[key])
	}
	if err := os.MkdirAll(n.dir, 0o755); err != nil {
		return fmt.Errorf("kafkaproc: node %d: %w", n.id, err)
	}
	if err := os.WriteFile(n.file("log4j.properties"), []byte(logConfig), 0o600); err != nil {
		return fmt.Errorf("kafkaproc: node %d: %w", n.id, err)
	}
	if err := os.WriteFile(n.file("server.properties"), []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("kafkaproc: node %d: %w", n.id, err)
	}
	return nil
}
