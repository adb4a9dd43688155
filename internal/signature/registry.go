package signature

// schemes are all kinds of sources, in the order in which people choose.
var schemes = []Scheme{
	github{},
	stripe{},
	standardWebhooks{},
	genericHMAC{},
	none{},
}

// Lookup returns the scheme of a kind, and whether there is one.
func Lookup(kind string) (Scheme, bool) {
	for _, scheme := range schemes {
		if scheme.Kind() == kind {
			return scheme, true
		}
	}
	return nil, false
}

// Kinds returns the names of all kinds, in the order in which people choose.
func Kinds() []string {
	kinds := make([]string, 0, len(schemes))
	for _, scheme := range schemes {
		kinds = append(kinds, scheme.Kind())
	}
	return kinds
}
