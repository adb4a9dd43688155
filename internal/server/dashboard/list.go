package dashboard

import (
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

const (
	// pageRows is how many rows a page of a list has.
	pageRows = 50
	// offered is how many sources or endpoints a filter offers.
	offered = 100
	// paramAfter is where in the list a page begins.
	paramAfter = "after"
)

// listing is a list's address, and what it is narrowed by: the parameters that
// the list knows, and nothing of what else stands in the address.
type listing struct {
	path  string
	query url.Values
	now   time.Time
	// untidy tells that the address has parameters without a value, as a form
	// sends them that filters little.
	untidy bool
}

// listing reads the address of a list. Parameters that are empty, as forms
// send them, count as not there.
func (v *visit) listing(path string, known ...string) listing {
	l := listing{path: path, query: url.Values{}, now: v.now()}
	for name, values := range v.QueryParams() {
		if !slices.Contains(known, name) && !slices.Contains(paramsOfPeriod, name) && name != paramAfter {
			continue
		}
		for _, value := range values {
			if value = strings.TrimSpace(value); value == "" {
				l.untidy = true
				continue
			}
			l.query.Add(name, value)
		}
	}
	return l
}

// get is one parameter. What no text of the database can be is left out.
func (l listing) get(name string) string {
	value := l.query.Get(name)
	if !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
		return ""
	}
	return value
}

// has tells that the list is narrowed by one of these.
func (l listing) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return len(l.query[name]) > 0 })
}

// with is the address of the first page of the list with a parameter changed;
// without a value, it is taken out.
func (l listing) with(name string, values ...string) string {
	q := l.clone()
	q.Del(paramAfter)
	q[name] = slices.DeleteFunc(slices.Clone(values), func(value string) bool { return value == "" })
	return l.address(q)
}

// in is the address of the first page of the list of another period.
func (l listing) in(period string) string {
	q := l.clone()
	for _, name := range append(paramsOfPeriod, paramAfter) {
		q.Del(name)
	}
	q.Set(paramRange, period)
	return l.address(q)
}

// newest is the address of the first page; empty on it.
func (l listing) newest() string {
	if !l.has(paramAfter) {
		return ""
	}
	return l.with(paramAfter)
}

// older is the address of the page after a place.
func (l listing) older(place string) string {
	q := l.clone()
	q.Set(paramAfter, place)
	return l.address(q)
}

// asked is the page of rows that the address asks for by the id of the row
// before it, with one row more than is shown: it tells whether there is a next
// page. What is no id asks for the first page.
func asked[I gateway.AnyID](l listing) (rows store.Page[I]) {
	rows.Limit, rows.Before = pageRows+1, after[I](l)
	return rows
}

// after is the id behind which the page begins; nil for the first page.
func after[I gateway.AnyID](l listing) *I {
	id, err := gateway.ParseID[I](l.get(paramAfter))
	if err != nil {
		return nil
	}
	return &id
}

// shown cuts off the row that is not shown, and leads to the first page and to
// the next one.
func shown[R any](l listing, rows []R, place func(R) string) (part []R, newest, older string) {
	if len(rows) > pageRows {
		rows = rows[:pageRows]
		older = l.older(place(rows[pageRows-1]))
	}
	return rows, l.newest(), older
}

// cleared is the address of the list that is narrowed by nothing.
func (l listing) cleared() string { return l.path }

func (l listing) clone() url.Values {
	q := url.Values{}
	for name, values := range l.query {
		q[name] = slices.Clone(values)
	}
	return q
}

func (l listing) address(q url.Values) string {
	for name, values := range q {
		if len(values) == 0 {
			delete(q, name)
		}
	}
	if len(q) == 0 {
		return l.path
	}
	return l.path + "?" + q.Encode()
}

// pick makes the choices of a filter, and says what is chosen.
func (l listing) pick(name string, options []component.Option) (chosen []component.Option, text string) {
	var words []string
	for _, o := range options {
		if slices.Contains(l.query[name], o.Value) {
			o.Selected = true
			words = append(words, o.Label)
		}
		chosen = append(chosen, o)
	}
	return chosen, strings.Join(words, ", ")
}

// orAny puts before the options of a filter with one choice the one that it is
// off.
func orAny(options []component.Option) []component.Option {
	none := !slices.ContainsFunc(options, func(o component.Option) bool { return o.Selected })
	return append([]component.Option{{Label: "Any", Selected: none}}, options...)
}

// text is a filter whose value is typed in.
func (l listing) text(label, name, hint string) page.TextFilter {
	return page.TextFilter{Label: label, Name: name, Value: l.get(name), Hint: hint}
}

// sourceOptions are the account's sources as a filter offers them.
func (v *visit) sourceOptions() ([]component.Option, error) {
	sources, err := v.d.Store.Sources(v.ctx(), v.account(), store.Page[gateway.SourceID]{Limit: offered})
	options := make([]component.Option, len(sources))
	for i, s := range sources {
		options[i] = component.Option{Value: s.ID.String(), Label: s.Name}
	}
	return options, err
}

// endpointOptions are the account's endpoints as a filter offers them.
func (v *visit) endpointOptions() ([]component.Option, error) {
	endpoints, err := v.d.Store.Endpoints(v.ctx(), v.account(), store.Page[gateway.EndpointID]{Limit: offered})
	options := make([]component.Option, len(endpoints))
	for i, e := range endpoints {
		options[i] = component.Option{Value: e.ID.String(), Label: page.EndpointName(e.URL, e.Description)}
	}
	return options, err
}

// called is what an endpoint is called.
func called(l store.EndpointLabel) string { return page.EndpointName(l.URL, l.Description) }

// address adds a parameter to the address of another page; without a value it
// is left out.
func address(at, name, value string) string {
	if value == "" {
		return at
	}
	return at + "?" + url.Values{name: {value}}.Encode()
}
