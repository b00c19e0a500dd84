// Package faultproxy stands between Kafka clients and brokers, real or not, and
// does to single requests and replies what a network or a crash does: loses,
// holds, delays and cuts, at an exact point of the protocol.
//
// There is one listener for each broker. A client is led to it by its dialer
// (Dialer), so the addresses in metadata stay as they are and a broker's own
// traffic is not touched. A child process gets the map as one environment
// string (Proxy.Env, ParseEnv).
//
//	request:  client --> RequestReceived --> broker --> RequestForwarded
//	reply:    client <------------------ ReplyReceived <-- broker
//
// At each of the three points the rules of the Proxy are asked. TCP neither
// loses nor reorders a single message, so neither does the proxy: what is behind
// a dropped frame on its connection is lost too, and what is behind a held or
// delayed one waits.
//
// A client that goes away does not take back what it has sent: requests that
// were read, held ones included, still reach the broker over their old
// connection, which is then kept until they are answered. That is how the late
// write of a zombie comes about.
package faultproxy
