// Package postgres keeps the boundary in PostgreSQL 16: the marks of operations,
// the ledger of effects that are performed elsewhere, and what has to be looked
// at by a person. Everything is in the schema "weir" of the user's own database,
// so that a mark and the change it stands for are one transaction.
package postgres
