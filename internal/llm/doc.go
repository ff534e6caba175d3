// Package llm is the engine of language models that answer over HTTP with an event stream.
// The adapters of vendors, which are packages below provider, say how a request is written and
// how an event is read; see [Wire]. The engine has the rest: the conversion of a history to turns
// that all servers accept, its cut to the window of a model, calls that come in pieces, the
// classes of failures (seed 001, section 4.7), and the detection of a server that has been silent
// for too long.
//
// It does not retry (the conversation does), run tools, validate arguments (whoever runs the tool
// does) or follow redirects. It does not log. Keys do not appear in errors or reports.
//
// The event stream is parsed by github.com/tmaxmax/go-sse, which follows the standard (line ends,
// byte order mark, comments, multi-line data) and limits sizes.
package llm
