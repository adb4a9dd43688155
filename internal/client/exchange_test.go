package client

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestDoAndUpload(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		if q.Header.Get("Authorization") != "Bearer rk_1" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"said":"`+q.Method+" "+q.URL.RequestURI()+" "+q.Header.Get("Content-Type")+" "+string(body)+`"}`)
	}))
	t.Cleanup(server.Close)
	c, err := New(server.URL, "rk_1")
	if err != nil {
		t.Fatal(err)
	}
	var answer struct{ Said string }
	if err := c.Do(t.Context(), http.MethodPut, "/things/1?a=b", 7, &answer); err != nil || answer.Said != "PUT /api/v1/things/1?a=b application/json 7" {
		t.Errorf("%q, %v", answer.Said, err)
	}
	if err := c.Upload(t.Context(), "/lists", "text/csv", []byte("x"), &answer); err != nil || answer.Said != "POST /api/v1/lists text/csv x" {
		t.Errorf("%q, %v", answer.Said, err)
	}
	if err := c.Do(t.Context(), http.MethodPost, "/things", nil, nil); err != nil {
		t.Error(err)
	}
	if _, err := New("ftp://x", "rk_1"); err == nil {
		t.Error("an address that cannot be was taken")
	}
}

func TestLook(t *testing.T) {
	t.Parallel()
	for want, answer := range map[Presence]string{
		Ready: `{"ready":true,"missing":[]}`, Starting: `{"ready":false,"missing":["database"]}`, Stranger: `<html>`,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if q.URL.Path != "/readyz" {
				t.Errorf("asked for %s", q.URL.Path)
			}
			_, _ = io.WriteString(w, answer)
		}))
		if got, err := Look(t.Context(), server.URL); err != nil || got != want {
			t.Errorf("%s: %d, %v", answer, got, err)
		}
		server.Close()
		if got, err := Look(t.Context(), server.URL); err != nil || got != Nobody {
			t.Errorf("after its end: %d, %v", got, err)
		}
	}
	if _, err := Look(t.Context(), "nowhere"); err == nil {
		t.Error("an address that cannot be was looked at")
	}
}
