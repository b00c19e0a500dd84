// Package devpg runs a real PostgreSQL 16 as a child process, from the binaries
// published on Maven Central for embedding: for tests, the demo and examples on
// machines without a database.
//
// Nothing has to be installed: the binaries are downloaded once, checked against
// the sums below, and kept in the cache. The server listens on a free port of
// 127.0.0.1 without passwords and keeps its files in a folder that Stop removes.
// It writes through to the disk (fsync on), as a server that matters does.
//
// PostgreSQL refuses to run as root: as root it is run as "nobody", from folders
// that such a user can reach.
package devpg
