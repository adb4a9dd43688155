// Package client talks to a running Rowlock over its REST API, on behalf of
// the commands that a person or a script types.
package client

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	// ServerVariable names the environment variable with the server's address.
	ServerVariable = "ROWLOCK_SERVER"
	// KeyVariable names the environment variable with the API key.
	KeyVariable = "ROWLOCK_API_KEY"
	// DefaultServer is where a server on this machine listens by default.
	DefaultServer = "http://localhost:8080"
)

// requestTimeout bounds one call, connect to last byte. The server answers
// within milliseconds or says 503; half a minute allows for slow networks.
const requestTimeout = 30 * time.Second

// Client calls the API of one server with one key. It is safe for concurrent
// use.
type Client struct {
	server *url.URL
	key    string
	http   *http.Client
	// silence is how long an asking of a listener waits for the first of an answer.
	silence time.Duration
}

// FromEnviron makes a client from ROWLOCK_SERVER and ROWLOCK_API_KEY as they
// stand in environ ("NAME=value", as os.Environ gives them). A key that is
// missing, or a value that cannot be used, is a *SettingError.
func FromEnviron(environ []string) (*Client, error) {
	server, key, err := settings(environ)
	if err != nil {
		return nil, err
	}
	return &Client{server: server, key: key, http: newHTTPClient(), silence: pollSilence}, nil
}

// Settings are the address of the server and the key that environ names, for what
// makes its calls by itself. Errors are those of FromEnviron.
func Settings(environ []string) (server, key string, err error) {
	address, key, err := settings(environ)
	if err != nil {
		return "", "", err
	}
	return address.String(), key, nil
}

func settings(environ []string) (server *url.URL, key string, err error) {
	if server, err = parseServer(lookup(environ, ServerVariable)); err != nil {
		return nil, "", err
	}
	key, err = parseKey(lookup(environ, KeyVariable))
	return server, key, err
}

// newHTTPClient follows no redirect: following one would turn a POST into a
// GET, or hand the key to another host. Each call has a time limit of its own.
// Connections stay open for all that are called at once.
func newHTTPClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // nobody replaces it
	transport.MaxIdleConnsPerHost = transport.MaxIdleConns
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// lookup returns the last value of a variable, without the white space that
// pasting leaves around it; empty when it is not set.
func lookup(environ []string, name string) (value string) {
	for _, entry := range environ {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = strings.TrimSpace(v)
		}
	}
	return value
}

func parseServer(text string) (*url.URL, error) {
	if text == "" {
		text = DefaultServer
	}
	server, err := url.Parse(text)
	if err != nil || (server.Scheme != "http" && server.Scheme != "https") || server.Host == "" {
		return nil, &SettingError{Name: ServerVariable, Problem: fmt.Sprintf("is %q, which is not an http or https address", text), Advice: "Set it to the address of the server, for example " + DefaultServer + "."}
	}
	if server.User != nil {
		return nil, &SettingError{Name: ServerVariable, Problem: "holds a user name or password", Advice: "Leave them out: the API key in " + KeyVariable + " is what identifies you."}
	}
	return server, nil
}

// parseKey looks only for what no key can hold; whether the key is known is
// the server's to say. The key itself is never part of an error.
func parseKey(text string) (string, error) {
	const advice = "`rowlock account create` prints the key of a new account; export it as " + KeyVariable + "."
	if text == "" {
		return "", &SettingError{Name: KeyVariable, Problem: "is not set", Advice: advice}
	}
	for _, c := range []byte(text) {
		if c <= ' ' || c >= 0x7f {
			return "", &SettingError{Name: KeyVariable, Problem: "holds a character that no API key has", Advice: advice}
		}
	}
	return text, nil
}

// SettingError is an environment variable that cannot be used.
type SettingError struct {
	// Name is the variable's name.
	Name string
	// Problem says what is wrong with its value, as the rest of a sentence that
	// begins with the name.
	Problem string
	// Advice says what to do about it.
	Advice string
}

// Error names the variable and what is wrong with it.
func (e *SettingError) Error() string { return e.Name + " " + e.Problem }

// Hint says what to do about it.
func (e *SettingError) Hint() string { return e.Advice }

// ServerFrom is the server that ROWLOCK_SERVER names in environ; empty: none.
func ServerFrom(environ []string) string { return lookup(environ, ServerVariable) }
