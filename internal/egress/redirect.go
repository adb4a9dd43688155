package egress

import (
	"fmt"
	"net/http"
	"net/url"
)

// redirected explains an answer that leads elsewhere; it is empty for every
// other one. Redirects are not followed: where they lead is the receiver's
// choice, and what is sent is meant for the endpoint's URL alone.
func redirected(u *url.URL, resp *http.Response) string {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return ""
	}
	location := resp.Header.Get("Location")
	if location == "" {
		return fmt.Sprintf("The answer %d is a redirect that leads nowhere. Answer with a 2xx.", resp.StatusCode)
	}
	if to, err := u.Parse(location); err == nil {
		location = to.String()
	}
	return fmt.Sprintf("The answer %d leads to %s. Redirects are not followed: if that is where the receiver is now, set the endpoint's URL to it.",
		resp.StatusCode, cut(location))
}
