package tidy

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

const composeFile = "docker-compose.yml"

var composeSetting = regexp.MustCompile(`(?m)^ +KAFKA_([A-Z0-9_]+): "([^"]*)"$`)

// placed are the settings that say where a broker listens and keeps its data,
// which differ between a container and a process of the tests.
var placed = []string{
	"node.id", "process.roles", "listeners", "advertised.listeners",
	"listener.security.protocol.map", "controller.listener.names",
	"inter.broker.listener.name", "controller.quorum.voters", "log.dirs",
}

// Compose returns the differences between the broker settings of
// docker-compose.yml and those with which the tests start their broker, both
// without the settings that only place it.
func Compose(t *Tree, tested map[string]string) []Fault {
	shown := map[string]string{}
	for _, m := range composeSetting.FindAllStringSubmatch(t.Files[composeFile], -1) {
		shown[strings.ToLower(strings.ReplaceAll(m[1], "_", "."))] = m[2]
	}
	all := maps.Clone(tested)
	maps.Copy(all, shown)
	var faults []Fault
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if slices.Contains(placed, key) {
			continue
		}
		inCompose, ok := shown[key]
		inTests, too := tested[key]
		if !ok || !too || inCompose != inTests {
			faults = append(faults, Fault{
				Path: composeFile,
				Text: fmt.Sprintf("%s is %s here and %s in the tests", key, orUnset(inCompose, ok), orUnset(inTests, too)),
			})
		}
	}
	return faults
}

func orUnset(value string, set bool) string {
	if !set {
		return "not set"
	}
	return fmt.Sprintf("%q", value)
}
