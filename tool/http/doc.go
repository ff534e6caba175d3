// Package httptool carries out the actions of an agent's flows over HTTP, as the
// agent's files describe them. It fills in slots and environment variables, sends
// the request, and reads the outputs. It retries only idempotent requests, since a
// failed request may have been carried out.
//
// It uses net/http directly: an action is one request and one response, and must
// not have what client libraries add, such as retries of all requests.
package httptool
