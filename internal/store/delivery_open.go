package store

import "github.com/rowlock/rowlock/internal/gateway"

// isOpenStatus tells whether a shown status is one of an open delivery, which
// depends on its endpoint's state.
func isOpenStatus(status gateway.DeliveryStatus) bool {
	return status == gateway.DeliveryPending || status == gateway.DeliverySending || status == gateway.DeliveryHeld
}

// openDeliveriesQuery lists open deliveries. They are few among those that were
// delivered, and whether one is held is its endpoint's to say: so it asks each
// endpoint in the right state for its newest, and puts these in order.
func openDeliveriesQuery(account gateway.AccountID, f DeliveryFilter, page Page[gateway.DeliveryID]) *query {
	q := &query{}
	q.put(`SELECT ` + deliveryFields + `
		FROM endpoints p
		CROSS JOIN LATERAL (`)
	switch f.Status {
	case gateway.DeliveryHeld:
		q.addNewest(`pending`, f, page)
		q.put(` UNION ALL `)
		q.addNewest(`sending`, f, page)
	default:
		q.addNewest(string(f.Status), f, page)
	}
	q.add(`) d
		WHERE p.account_id = `, account)
	if f.Status == gateway.DeliveryHeld {
		q.put(` AND p.state <> 'active'`)
	} else {
		q.put(` AND p.state = 'active'`)
	}
	if f.Endpoint != nil {
		q.add(` AND p.id = `, *f.Endpoint)
	}
	q.add(` ORDER BY d.id DESC LIMIT `, page.Limit)
	return q
}

// addNewest adds the newest deliveries of endpoint p in a status, which becomes
// a literal: a generic plan can use its partial index.
func (q *query) addNewest(status string, f DeliveryFilter, page Page[gateway.DeliveryID]) {
	q.put(`(
			SELECT *
			FROM deliveries d
			WHERE d.endpoint_id = p.id
			  AND d.account_id = p.account_id
			  AND d.status = '` + status + `'`)
	q.addDeliveryFilter(f, page)
	q.add(` ORDER BY d.id DESC LIMIT `, page.Limit)
	q.put(`)`)
}
