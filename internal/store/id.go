package store

import (
	"bytes"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// registerTypes teaches a connection that times are in UTC, whatever the
// node's zone, and that every gateway.ID is a uuid, both ways and inside
// arrays, by its sixteen bytes.
func registerTypes(m *pgtype.Map) {
	m.RegisterType(&pgtype.Type{
		Name: "timestamptz", OID: pgtype.TimestamptzOID, Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC},
	})
	m.TryWrapEncodePlanFuncs = append([]pgtype.TryWrapEncodePlanFunc{wrapIDEncode}, m.TryWrapEncodePlanFuncs...)
	m.TryWrapScanPlanFuncs = append([]pgtype.TryWrapScanPlanFunc{wrapIDScan}, m.TryWrapScanPlanFuncs...)
}

// outID and inID are what every gateway.ID, and a pointer to one, can do.
type (
	outID interface{ UUID() [16]byte }
	inID  interface{ SetUUID([16]byte) }
)

func wrapIDEncode(value any) (pgtype.WrappedEncodePlanNextSetter, any, bool) {
	// The value may be a nil pointer here: only its type is looked at.
	if _, ok := value.(outID); ok {
		return &idEncodePlan{}, uuidOut{}, true
	}
	return nil, nil, false
}

type idEncodePlan struct{ next pgtype.EncodePlan }

func (p *idEncodePlan) SetNext(next pgtype.EncodePlan) { p.next = next }

func (p *idEncodePlan) Encode(value any, buf []byte) ([]byte, error) {
	id, ok := value.(outID)
	if !ok {
		return nil, fmt.Errorf("encode %T as an id", value)
	}
	return p.next.Encode(uuidOut(id.UUID()), buf)
}

type uuidOut [16]byte

// UUIDValue gives the bytes to the driver.
func (u uuidOut) UUIDValue() (pgtype.UUID, error) {
	return pgtype.UUID{Bytes: u, Valid: true}, nil
}

func wrapIDScan(target any) (pgtype.WrappedScanPlanNextSetter, any, bool) {
	if id, ok := target.(inID); ok {
		return &idScanPlan{}, &uuidIn{into: id}, true
	}
	return nil, nil, false
}

type idScanPlan struct{ next pgtype.ScanPlan }

func (p *idScanPlan) SetNext(next pgtype.ScanPlan) { p.next = next }

func (p *idScanPlan) Scan(src []byte, target any) error {
	id, ok := target.(inID)
	if !ok {
		return fmt.Errorf("scan an id into %T", target)
	}
	return p.next.Scan(src, &uuidIn{into: id})
}

type uuidIn struct{ into inID }

// ScanUUID takes the bytes from the driver. NULL needs a pointer to an id.
func (u *uuidIn) ScanUUID(v pgtype.UUID) error {
	if !v.Valid {
		return fmt.Errorf("scan NULL into an id")
	}
	u.into.SetUUID(v.Bytes)
	return nil
}

// compareIDs orders ids as the database does: by their bytes.
func compareIDs[I ~[16]byte](a, b I) int {
	x, y := [16]byte(a), [16]byte(b)
	return bytes.Compare(x[:], y[:])
}

// texts turns named strings into plain ones, which the driver knows.
func texts[S ~string](named []S) []string {
	plain := make([]string, len(named))
	for i, n := range named {
		plain[i] = string(n)
	}
	return plain
}
