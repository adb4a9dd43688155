package dashboard

import "strings"

// agent is what a browser says of itself, as far as a person needs it to tell
// their devices apart. Nothing else is decided by it: anybody can send anything.
type agent struct {
	browser, system string
	phone           bool
}

// marks are what a user agent holds, and the name that stands for it. The first
// that is found counts: most browsers claim to be several others, too.
type marks []struct{ mark, name string }

var browsers = marks{
	{"Edg/", "Edge"},
	{"EdgA/", "Edge"},
	{"EdgiOS/", "Edge"},
	{"OPR/", "Opera"},
	{"Vivaldi/", "Vivaldi"},
	{"SamsungBrowser/", "Samsung Internet"},
	{"FxiOS/", "Firefox"},
	{"Firefox/", "Firefox"},
	{"CriOS/", "Chrome"},
	{"Chromium/", "Chromium"},
	{"HeadlessChrome/", "Chrome"},
	{"Chrome/", "Chrome"},
	{"Safari/", "Safari"},
	{"curl/", "curl"},
}

var systems = marks{
	{"iPhone", "iPhone"},
	{"iPad", "iPad"},
	{"Android", "Android"},
	{"CrOS", "ChromeOS"},
	{"Windows", "Windows"},
	{"Macintosh", "macOS"},
	{"Mac OS X", "macOS"},
	{"Linux", "Linux"},
	{"FreeBSD", "FreeBSD"},
}

func (m marks) find(text string) string {
	for _, known := range m {
		if strings.Contains(text, known.mark) {
			return known.name
		}
	}
	return ""
}

// readAgent reads a User-Agent header.
func readAgent(header string) agent {
	a := agent{browser: browsers.find(header), system: systems.find(header)}
	a.phone = a.system == "iPhone" || a.system == "Android" && strings.Contains(header, "Mobile")
	return a
}

// words are such as "Firefox on macOS".
func (a agent) words() string {
	switch {
	case a.browser == "" && a.system == "":
		return "Unknown device"
	case a.browser == "":
		return "A browser on " + a.system
	case a.system == "":
		return a.browser
	default:
		return a.browser + " on " + a.system
	}
}
