package database_test

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// proxy is the way to a server, which can be cut.
type proxy struct {
	server string
	listen net.Listener
	work   sync.WaitGroup

	mu     sync.Mutex
	down   bool
	losing bool
	open   map[net.Conn]bool
}

func newProxy(t testing.TB, server string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{server: server, listen: l, open: map[net.Conn]bool{}}
	p.work.Go(p.accept)
	t.Cleanup(func() {
		l.Close()
		p.fail(true)
		p.work.Wait()
	})
	return p
}

func (p *proxy) addr() string { return p.listen.Addr().String() }

// fail cuts all connections and takes no new ones.
func (p *proxy) fail(fail bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = fail
	if fail {
		p.cut()
	}
}

func (p *proxy) cut() {
	for c := range p.open {
		c.Close()
	}
}

// lose lets the next question through, and cuts all connections instead of
// giving its answer.
func (p *proxy) lose() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.losing = true
}

func (p *proxy) accept() {
	for {
		client, err := p.listen.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.server)
		p.mu.Lock()
		if p.down || err != nil {
			client.Close()
			p.mu.Unlock()
			continue
		}
		p.open[client], p.open[server] = true, true
		p.mu.Unlock()
		p.work.Go(func() {
			_, _ = io.Copy(server, client)
			server.Close()
		})
		p.work.Go(func() {
			defer client.Close()
			p.answers(client, server)
		})
	}
}

func (p *proxy) answers(client, server net.Conn) {
	buf := make([]byte, 64<<10)
	for {
		n, err := server.Read(buf)
		if err != nil {
			return
		}
		p.mu.Lock()
		lose := p.losing
		if lose {
			p.losing = false
			time.Sleep(20 * time.Millisecond) // the server has done it by now
			p.cut()
		}
		p.mu.Unlock()
		if lose {
			return
		}
		if _, err := client.Write(buf[:n]); err != nil {
			return
		}
	}
}
