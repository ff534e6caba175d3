// Package tokens keeps what secrets of a short life are good for: in this process, or in
// a store that several share. The secrets themselves are not kept, only their SHA-256
// digests.
package tokens
