// Package server serves agents to browsers: the panel, the API under /v1, conversations
// by voice over WebRTC and by text. [New] makes an [http.Handler] of a program's agents
// and speech services; the program brings the HTTP server.
//
//	s, err := server.New(server.Options{Agents: []*hocket.Agent{agent}})
//	...
//	err = http.ListenAndServe("127.0.0.1:8080", s)
//
// Conversations are held in memory and end with the process. Those of the command
// hocket serve can also be kept in a store, go on at another node and be reached over the
// OpenAI Realtime protocol.
//
// Its parts are packages of their own: server/hub has the conversations, server/api the
// routes, server/panel the files of the page.
package server
