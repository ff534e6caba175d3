module github.com/hocketvoice/hocket

go 1.26

require (
	github.com/goccy/go-yaml v1.19.2 // indirect
	github.com/tphakala/simd v1.1.0 // indirect
	golang.org/x/sys v0.45.0 // indirect
	pgregory.net/rapid v1.3.0 // indirect
)
