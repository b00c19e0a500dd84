package eos

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// idSeparator parts application.id, member, lane and slot in a transactional.id.
// No id may contain it, so that an application never takes another's
// transactions for its own: "orders/" is no prefix of "orders-eu/…".
const idSeparator = "/"

// idPattern is what an application id or instance id may look like: a legal
// Kafka topic name, since topic names are made from it.
var idPattern = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,200}$`)

// transactionalID is <application.id>/<member>/<lane>/<slot>.
type transactionalID struct {
	application, member string
	lane, slot          int
}

func (t transactionalID) String() string {
	return strings.Join([]string{t.application, t.member, strconv.Itoa(t.lane), strconv.Itoa(t.slot)}, idSeparator)
}

// memberPrefix is what every transactional.id of one member starts with.
func memberPrefix(application, member string) string {
	return application + idSeparator + member + idSeparator
}

// parseTransactionalID takes apart an id of ours; ok is false for any other.
func parseTransactionalID(id string) (t transactionalID, ok bool) {
	parts := strings.Split(id, idSeparator)
	if len(parts) != 4 || !idPattern.MatchString(parts[0]) || !idPattern.MatchString(parts[1]) {
		return transactionalID{}, false
	}
	lane, err1 := strconv.Atoi(parts[2])
	slot, err2 := strconv.Atoi(parts[3])
	t = transactionalID{application: parts[0], member: parts[1], lane: lane, slot: slot}
	if err1 != nil || err2 != nil || lane < 0 || slot < 0 || t.String() != id {
		return transactionalID{}, false
	}
	return t, true
}

func checkID(what, id string) error {
	if !idPattern.MatchString(id) {
		return newError(ErrConfig, fmt.Sprintf("%s %q may hold letters, digits, '.', '_' and '-', at most 200 of them", what, id), "choose another", nil)
	}
	return nil
}
