package resource

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/rowlock/rowlock/internal/gateway"
)

// RateLimitBody is how many sends may begin within a second.
type RateLimitBody struct {
	PerSecond int `json:"per_second" minimum:"1" maximum:"10000"`
}

var _ huma.SchemaProvider = RateLimitBody{}

// Schema describes it in place: a named object could not be null.
func (RateLimitBody) Schema(huma.Registry) *huma.Schema {
	least, most := 1.0, float64(gateway.MaxRatePerSecond)
	perSecond := &huma.Schema{Type: huma.TypeInteger, Minimum: &least, Maximum: &most, Examples: []any{10}, Description: "How many."}
	s := &huma.Schema{
		Type: huma.TypeObject, Properties: map[string]*huma.Schema{"per_second": perSecond},
		Required: []string{"per_second"}, AdditionalProperties: false,
	}
	s.PrecomputeMessages()
	return s
}

// RateLimit is nil for none.
func RateLimit(perSecond int) *RateLimitBody {
	if perSecond == 0 {
		return nil
	}
	return &RateLimitBody{PerSecond: perSecond}
}

// rateLimit is what the use case takes: nil when the body does not say, zero for no
// limit.
func (b EndpointBody) rateLimit() (*int, error) {
	limit := given(b.RateLimit, RateLimitBody{})
	switch {
	case limit == nil:
		return nil, nil
	case !b.RateLimit.Null && limit.PerSecond < 1:
		return nil, gateway.Invalid("rate_limit.per_second", "want 1 to %d", gateway.MaxRatePerSecond)
	}
	return &limit.PerSecond, nil
}
