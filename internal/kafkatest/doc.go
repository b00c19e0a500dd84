// Package kafkatest gives tests a real Kafka 3.9 and two readers that do not
// share code: one on franz-go, one on Kafka's own Java client.
//
// A package that uses it runs its tests through Main:
//
//	func TestMain(m *testing.M) { kafkatest.Main(m) }
//
// Start then returns one cluster shared by the whole test binary, or the one
// that WEIR_TEST_KAFKA (host:port,...) names. A broker that cannot be had fails
// the test: nothing here skips. Tests keep apart by unique names, see Topic and
// Name.
package kafkatest
