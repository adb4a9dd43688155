package demo

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// What a carrier reports of a parcel, in the order in which it happens.
const (
	labelled  = "label_created"
	inTransit = "in_transit"
	onItsWay  = "out_for_delivery"
	delivered = "delivered"
	lost      = "lost"
)

var (
	states   = []string{labelled, inTransit, onItsWay, delivered}
	terminal = []string{delivered, lost}
)

// journeys are what carriers report of parcels: in order, twice, late, and after the
// last word.
var journeys = [][]string{
	states,
	{labelled, onItsWay, inTransit, delivered},
	{labelled, inTransit, inTransit, onItsWay, delivered},
	{labelled, inTransit, onItsWay, delivered, lost},
	{inTransit, labelled, onItsWay, delivered, delivered},
	{labelled, inTransit, lost, delivered},
}

// parcel is one under way, with what is still to be reported of it.
type parcel struct {
	number string
	left   []string
}

// underWay is how many parcels are under way at once.
const underWay = 4

// parcels are those under way.
type parcels struct {
	*demo

	number int
	all    []*parcel
}

// next reports the next thing of one of them.
func (p *parcels) next(ctx context.Context) error {
	for len(p.all) < underWay {
		p.number++
		p.all = append(p.all, &parcel{number: fmt.Sprint("SHP-", p.number), left: journeys[p.number%len(journeys)]})
	}
	one := pick(p.all)
	if err := p.deliver(ctx, shipment(one.number, one.left[0])); err != nil {
		return err
	}
	if one.left = one.left[1:]; len(one.left) == 0 {
		p.all = slices.DeleteFunc(p.all, func(other *parcel) bool { return other == one })
	}
	return nil
}

// shipment is a report, with an id of its own.
func shipment(number, state string) webhook {
	return webhook{source: carrier, header: map[string]string{"Webhook-Id": id("msg_")}, body: encode(map[string]any{
		"shipment": number, "status": state, "at": time.Now().UTC().Format(time.RFC3339), "hub": pick([]string{"Hamburg", "Rotterdam", "Antwerp"}),
	})}
}
