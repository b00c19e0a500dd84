// Package kafkaproc runs a real Apache Kafka 3.9.2 in KRaft mode as child
// processes: one node or three, from the jars published on Maven Central.
//
// It needs java (17 or newer) and, until the jars are in the cache, mvn. There
// is no container and no installation. Every node is broker and controller at
// once, listens on 127.0.0.1 and keeps its files in a folder that Stop removes.
//
// The settings are those of a test cluster: small internal topics, no waiting
// for a group to fill, no automatic topics. Options.Config overrides any of
// them. A cluster of one node answers every protocol question; questions about
// moving coordinators and leaders need three.
//
// The child processes die with their parent: on Linux the kernel kills them
// (PR_SET_PDEATHSIG), elsewhere only Stop does.
package kafkaproc
