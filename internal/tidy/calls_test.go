package tidy_test

import (
	"testing"

	"github.com/weirstream/weir/internal/tidy"
)

func TestSleepsFindsASleepInATest(t *testing.T) {
	t.Parallel()
	checkExamples(t, tidy.Sleeps, []example{{
		name: "tests and their helpers",
		files: map[string]string{
			"a/a_test.go":             "package a\nfunc x() { time.Sleep(1) }",
			"internal/kafkatest/k.go": "package kafkatest\nfunc x() { time.Sleep(1) }",
			"a/a.go":                  "package a\nfunc x() { time.Sleep(1) }",
			"b/b_test.go":             "package b\nfunc x() { time.Sleep(1) } //nolint:forbidigo // no virtual time here",
			"c/c_test.go":             "package c\nimport \"testing/synctest\"\nfunc x() {\n\ttime.Sleep(1) //nolint:forbidigo // virtual time\n\ttime.Sleep(1)\n}",
		},
		want: []string{
			"a/a_test.go:2: time.Sleep in a test: wait for the event, with a deadline",
			"b/b_test.go:2: time.Sleep in a test: wait for the event, with a deadline",
			"c/c_test.go:5: time.Sleep in a test: wait for the event, with a deadline",
			"internal/kafkatest/k.go:2: time.Sleep in a test: wait for the event, with a deadline",
		},
	}})
}

func TestSkipsFindsEveryWayToSkip(t *testing.T) {
	t.Parallel()
	checkExamples(t, tidy.Skips, []example{{
		name: "each way",
		files: map[string]string{
			"a/a_test.go": "package a\nfunc x() {\n\tt.Skip()\n\ttb.Skipf(\"\")\n\tb.SkipNow()\n\tif testing.Short() {}\n\tpolicy.Skip()\n}",
			"a/a.go":      "package a\nfunc x() { s.Skip() }",
		},
		want: []string{
			"a/a_test.go:3: t.Skip: a test runs or fails",
			"a/a_test.go:4: tb.Skipf: a test runs or fails",
			"a/a_test.go:5: b.SkipNow: a test runs or fails",
			"a/a_test.go:6: testing.Short: a test runs or fails",
		},
	}})
}

func TestContextsFindsARootContextWithoutAReason(t *testing.T) {
	t.Parallel()
	const refusal = ": take the caller's, or give the reason on this line after //nolint:forbidigo //"
	checkExamples(t, tidy.Contexts, []example{{
		name: "libraries only",
		files: map[string]string{
			"eos/a.go":            "package eos\nvar a = context.Background()\nvar b = context.TODO() //nolint:forbidigo\nvar c = context.Background() //nolint:forbidigo // outlives Run: the revoke deadline\n",
			"eos/a_test.go":       "package eos\nvar a = context.Background()\n",
			"examples/h/a.go":     "package main\nvar a = context.Background()\n",
			"internal/xtest/a.go": "package xtest\nvar a = context.Background()\n",
		},
		want: []string{
			"eos/a.go:2: context.Background in a library" + refusal,
			"eos/a.go:3: context.TODO in a library" + refusal,
		},
	}})
}

func TestInitsFindsAnInit(t *testing.T) {
	t.Parallel()
	checkExamples(t, tidy.Inits, []example{{
		name:  "function, not method",
		files: map[string]string{"a/a_test.go": "package a\nfunc init() {}\nfunc (T) init() {}\n"},
		want:  []string{"a/a_test.go:2: init runs on import: make it a function that is called"},
	}})
}
