package tidy_test

import (
	"testing"

	"github.com/weirstream/weir/internal/tidy"
)

func TestUnfinishedFindsWorkLeftInAComment(t *testing.T) {
	t.Parallel()
	checkExamples(t, tidy.Unfinished, []example{{
		name:  "comments, not strings",
		files: map[string]string{"a/a.go": "package a\n\n// TO" + "DO: later\nvar a = \"FIX" + "ME\" // FIX" + "ME\n"},
		want: []string{
			"a/a.go:3: TO" + "DO in a comment: finish it or take it to the tracker",
			"a/a.go:4: FIX" + "ME in a comment: finish it or take it to the tracker",
		},
	}})
}

func TestPackageNamesFindsAVagueOne(t *testing.T) {
	t.Parallel()
	checkExamples(t, tidy.PackageNames, []example{{
		name:  "anywhere",
		files: map[string]string{"eos/util/a.go": "package util", "eos/util/b.go": "package util", "eos/a.go": "package eos"},
		want:  []string{"eos/util: name the package for what it does"},
	}})
}
