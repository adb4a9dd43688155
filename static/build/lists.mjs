// What is taken out of the big packages.

// drawings are the icons of Lucide that components use.
export const drawings = `
activity arrow-down-right arrow-down-to-line arrow-left arrow-right arrow-up-right at-sign ban bell book-open bookmark braces building-2
calendar check chevron-down chevron-left chevron-right chevrons-up-down circle-alert circle-check circle-dashed
circle-help circle-play circle-x clock code copy database download ellipsis external-link eye eye-off file-text filter fingerprint gauge
git-compare globe hash history hourglass inbox info key-round keyboard layers layout-dashboard link list lock lock-keyhole
lock-open log-in log-out mail menu minus monitor moon pause pencil phone play plus power radio refresh-cw rotate-ccw
rotate-cw scroll-text search send server settings sliders-horizontal shield-alert shield-check shield-x sun tag terminal trash-2
triangle-alert unplug upload user user-plus users webhook x zap
`.trim().split(/\s+/);

// brands are the marks of Simple Icons that stand beside sources. Those that
// are a word cannot be read at that size.
export const brands = `
asana auth0 bitbucket calendly clerk discord dropbox github gitlab hubspot intercom linear mailgun meta
notion okta paddle pagerduty paypal razorpay resend sentry shopify square stripe twitch vercel xero zendesk
`.trim().split(/\s+/);

// fonts are our file names and theirs. The extended Latin files are fetched
// only by a page that shows one of their letters.
export const fonts = {
	'geist.woff2': 'geist/files/geist-latin-wght-normal.woff2',
	'geist-ext.woff2': 'geist/files/geist-latin-ext-wght-normal.woff2',
	'geist-mono.woff2': 'geist-mono/files/geist-mono-latin-wght-normal.woff2',
	'geist-mono-ext.woff2': 'geist-mono/files/geist-mono-latin-ext-wght-normal.woff2',
};

// licences are those of what is built in.
export const licences = [
	['Geist and Geist Mono', '@fontsource-variable/geist/LICENSE'],
	['htmx', 'htmx.org/LICENSE'],
	['Lucide', 'lucide-static/LICENSE'],
	['Simple Icons', 'simple-icons/LICENSE.md'],
	['Tailwind CSS', 'tailwindcss/LICENSE'],
];
