package httpx

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"syscall"

	"banyan/internal/llm"
)

// networkFault names what failed below HTTP.
func networkFault(provider, host string, err error) error {
	var known *llm.Error
	if errors.As(err, &known) {
		return known
	}
	e := &llm.Error{Class: llm.RetryNow, Provider: provider, Host: host, Err: err}
	var (
		dns     *net.DNSError
		invalid x509.CertificateInvalidError
		unknown x509.UnknownAuthorityError
		name    x509.HostnameError
		roots   x509.SystemRootsError
		record  tls.RecordHeaderError
		op      *net.OpError
	)
	switch {
	case errors.As(err, &op) && op.Op == "proxyconnect":
		e.Type, e.Text, e.Hint = "proxy", "the proxy could not be reached: "+root(err), "Check HTTPS_PROXY"
	case errors.As(err, &dns):
		e.Type, e.Text = "dns", "the name "+dns.Name+" could not be looked up"
		e.Hint = "Check the network and the base URL"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		e.Class, e.Type, e.Text = llm.Stop, "tls", "the server's certificate is expired or not valid yet"
		e.Hint = "Check this computer's clock"
	case errors.As(err, &unknown), errors.As(err, &name), errors.As(err, &invalid), errors.As(err, &roots):
		e.Class, e.Type, e.Text = llm.Stop, "tls", "the server's certificate cannot be trusted: "+root(err)
		e.Hint = "A proxy may be in the way; SSL_CERT_FILE can name its certificate"
	case errors.As(err, &record):
		e.Class, e.Type, e.Text = llm.Stop, "tls", "the server does not speak TLS"
		e.Hint = "Does the base URL need http:// instead of https://?"
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Type, e.Text, e.Hint = "refused", "the connection was refused", "Is the server running there?"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		e.Type, e.Text = "reset", "the connection was cut"
	default:
		e.Type, e.Text = "network", "the connection failed: "+root(err)
	}
	return e
}

// root is the words of the innermost error: those around it repeat the URL.
func root(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return oneLine(err.Error())
		}
		err = inner
	}
}
