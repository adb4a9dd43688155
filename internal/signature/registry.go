package signature

// schemes are all kinds of sources, in the order of the catalogue.
var schemes = []Scheme{
	github,
	stripe,
	slack,
	shopify,
	twilio,
	telnyx,
	gitlab,
	linear,
	paddle,
	sendgrid,
	adyen,
	asana,
	auth0,
	bitbucket,
	calendly,
	clerk,
	coinbaseCommerce,
	discord,
	dropbox,
	hubspot,
	intercom,
	mailgun,
	meta,
	microsoftGraph,
	notion,
	okta,
	pagerDuty,
	razorpay,
	resend,
	sentry,
	square,
	twitch,
	typeform,
	vercel,
	wooCommerce,
	xero,
	zoom,
	standardWebhooks,
	svix,
	anyHMAC,
	anyEd25519,
	anyECDSA,
	basicAuth,
	bearer,
	none,
}

// byKind are the schemes by the names of their kinds.
var byKind = func() map[string]Scheme {
	kinds := make(map[string]Scheme, len(schemes))
	for _, scheme := range schemes {
		kinds[scheme.Info().Kind] = scheme
	}
	return kinds
}()

// Lookup returns the scheme of a kind, and whether there is one.
func Lookup(kind string) (Scheme, bool) {
	scheme, ok := byKind[kind]
	return scheme, ok
}

// Kinds returns the names of all kinds, in the order of the catalogue.
func Kinds() []string {
	kinds := make([]string, 0, len(schemes))
	for _, scheme := range schemes {
		kinds = append(kinds, scheme.Info().Kind)
	}
	return kinds
}
