package tidy

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	composeFile  = "docker-compose.yml"
	testedBroker = "internal/kafkaproc/config.go"
)

var composeSetting = regexp.MustCompile(`(?m)^ +KAFKA_([A-Z0-9_]+): "([^"]*)"$`)

// placed are the settings in which a container and a process of the tests may
// differ: where a broker listens and keeps its data, and how many threads and
// how much memory a small one takes.
var placed = []string{
	"node.id", "process.roles", "listeners", "advertised.listeners",
	"listener.security.protocol.map", "controller.listener.names",
	"inter.broker.listener.name", "controller.quorum.voters", "log.dirs",
	"log.cleaner.dedupe.buffer.size", "num.network.threads", "num.io.threads",
}

// Compose holds that the broker of docker-compose.yml has the settings of the
// one-node broker of the tests, except where it listens and what it may use.
func Compose(t *Tree) []Fault {
	tested, faults := t.testedSettings()
	shown := map[string]string{}
	for _, m := range composeSetting.FindAllStringSubmatch(t.Files[composeFile], -1) {
		shown[strings.ToLower(strings.ReplaceAll(m[1], "_", "."))] = m[2]
	}
	all := maps.Clone(tested)
	maps.Copy(all, shown)
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
	return strconv.Quote(value)
}

// testedSettings reads the map of broker properties in the source of the tests'
// broker. A value that depends on the number of nodes counts as that of one
// node; a value that cannot be read is a fault.
func (t *Tree) testedSettings() (map[string]string, []Fault) {
	tested := map[string]string{}
	var faults []Fault
	for _, f := range t.Go {
		if f.Path != testedBroker {
			continue
		}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			pair, ok := n.(*ast.KeyValueExpr)
			if !ok {
				return true
			}
			key, ok := literal(pair.Key)
			if !ok || slices.Contains(placed, key) {
				return false
			}
			value, ok := ofOneNode(pair.Value)
			if !ok {
				faults = append(faults, t.fault(pair.Pos(), "%s: write its value as a string literal, so that it can be compared with %s", key, composeFile))
			}
			tested[key] = value
			return false
		})
	}
	if len(tested) == 0 {
		faults = append(faults, Fault{Path: testedBroker, Text: "holds no broker settings to compare " + composeFile + " with"})
	}
	return tested, faults
}

func literal(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}

// ofOneNode returns a string literal, or "1" for strconv.Itoa of a variable:
// the counts of replicas of a cluster of one node.
func ofOneNode(e ast.Expr) (string, bool) {
	if s, ok := literal(e); ok {
		return s, true
	}
	call, ok := e.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return "", false
	}
	fn, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || fn.Sel.Name != "Itoa" {
		return "", false
	}
	arg, ok := call.Args[0].(*ast.Ident)
	return "1", ok && (arg.Name == "replicas" || arg.Name == "minISR")
}
