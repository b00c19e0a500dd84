// Package httpcall makes effects over HTTP, one constructor for each class that
// HTTP can have: [Keyed], [Reconciled], [Natural], [Conditional], [AtMostOnce] and
// [AtLeastOnce].
//
//	bank := httpcall.StripeLike("bank")
//	charge := httpcall.Keyed("charge", on("charge"), bank, chargeRequest,
//		httpcall.Lookup[Order]{Ask: chargeLookup, Read: httpcall.Exists})
//
// A request is built from the payload alone. The package sends it, once: it owns
// the transport, which follows no redirect, repeats nothing by itself and keeps to
// the deadline of the attempt. What an answer means is in this table, where
// [API.Means] says nothing else:
//
//	nothing was written to the connection      not sent
//	cut off or out of time after that          unclear
//	2xx                                        performed; the body is the result
//	307, 308                                   not sent, pause: the address is another one
//	other 3xx                                  unclear: a form may be answered like this once it was acted on
//	400 that names the header of the key       not sent, pause: it is sent in another way than the remote wants
//	401, 403, 407                              not sent, pause: the credentials are not good
//	408                                        unclear
//	409 where a key travels                    busy: an earlier request is under way
//	421                                        not sent
//	425, 429                                   not sent, pause
//	other 4xx                                  refused; the body is the result
//	503 with Retry-After                       unclear, pause
//	other 5xx                                  unclear
//
// An answer counts once it has been read to its end. Retry-After is kept to where
// something is to be tried again, for a day at most.
//
// A remote that saves a 500 under the key answers every repeat with it. That stays
// unclear: the attempts run out, and the look-up decides. No effect ever gets a
// second key.
//
// Not covered: what a proxy on the way repeats by itself, and a look-up that lies.
package httpcall
