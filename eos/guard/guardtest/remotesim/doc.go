// Package remotesim is a payment API over HTTP for tests: it counts what it did
// for each business id and under each idempotency key, and misbehaves as it is
// told. It is meant for the tests of applications, too.
//
//	bank, err := remotesim.Start(ctx)
//	defer bank.Close()
//	bank.Next(remotesim.ActThenDrop()) // the first request is performed, and nobody hears of it
//	// … let the application charge order o-1 at bank.URL() …
//	bank.Effects("o-1") // 1, however often it was asked
//
// A request with any method but GET and HEAD asks for an effect, at any path. Its
// business id is the member or form field "id" of the body, or else the last part
// of the path; its key is the header Idempotency-Key, or else the member
// "idempotency_key" of a JSON body. It is performed and answered with 200 and a
// JSON object, unless a [Behaviour] says otherwise.
//
// A GET looks up: ?key=K the effect under a key, ?id=I or the last part of the
// path that of a business id. It is answered with 200 and what the request was
// answered with, or 404.
//
// Keys are honoured: a repeat gets the first answer with the header
// Idempotent-Replayed: true, one with other content 422, and one whose first
// request is still under way 409. Keys do not expire before [Remote.ForgetKeys].
//
// Nothing here waits for time to pass: what comes late waits at a [Gate].
package remotesim
