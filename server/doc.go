// Package server serves agents to browsers: the panel, the API under /v1, and
// conversations by voice over WebRTC or by text. [New] returns an [http.Handler]
// for a program's agents and speech services; the program provides the HTTP server.
//
//	s, err := server.New(server.Options{Agents: []*hocket.Agent{agent}})
//	...
//	err = http.ListenAndServe("127.0.0.1:8080", s)
//
// Conversations are held in memory and end with the process. The command "hocket
// serve" can also keep them in a store, continue them on another node and serve the
// OpenAI Realtime protocol.
//
// The parts are packages of their own: server/hub runs the conversations,
// server/api implements the routes, server/panel contains the files of the page.
package server
