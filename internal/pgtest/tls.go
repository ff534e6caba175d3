package pgtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Certificate returns the file with the server's self-signed certificate, for
// sslrootcert.
func (s *Server) Certificate() string { return filepath.Join(s.dir, "server.crt") }

func (s *Server) key() string { return filepath.Join(s.dir, "server.key") }

// certify creates the server's key and certificate.
func (s *Server) certify() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	now := time.Now()
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	certificate, err1 := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	private, err2 := x509.MarshalPKCS8PrivateKey(key)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(s.Certificate(), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}), 0o600),
		os.WriteFile(s.key(), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600),
		s.programs.own(s.key()), // the tests read the certificate, the server reads both
		s.programs.own(s.Certificate()))
}
