// Package latepackets proves that requests and replies of the transaction
// protocol that are lost, or delivered into a later transaction, lose nothing,
// double nothing, and never move the group's offsets back.
package latepackets
