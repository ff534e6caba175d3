// Package tokens stores the values of short-lived secrets, in this process or in a
// store that several processes share. It stores only the SHA-256 digests of the
// secrets.
package tokens
