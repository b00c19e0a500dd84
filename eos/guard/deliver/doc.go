// Package deliver performs effects: it takes what is due from a ledger, makes the
// attempt or the look-up, and books what came of it. It knows no Kafka and no
// database.
package deliver
