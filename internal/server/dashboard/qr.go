package dashboard

import (
	"fmt"
	"strings"

	"github.com/boombuler/barcode/qr"

	"github.com/rowlock/rowlock/web/page"
)

// quietZone is how much white a camera needs around a code, in its squares.
const quietZone = 4

// drawCode draws a text as a QR code: one path of unit squares, one run of them
// after the other.
func drawCode(text string) (page.QRCode, error) {
	code, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return page.QRCode{}, fmt.Errorf("draw a QR code: %w", err)
	}
	size := code.Bounds().Dx()
	dark := func(x, y int) bool {
		if x >= size {
			return false
		}
		r, _, _, _ := code.At(x, y).RGBA()
		return r == 0
	}
	var path strings.Builder
	for y := range size {
		for x := 0; x < size; x++ {
			from := x
			for dark(x, y) {
				x++
			}
			if x > from {
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", from+quietZone, y+quietZone, x-from, x-from)
			}
		}
	}
	return page.QRCode{Size: size + 2*quietZone, Path: path.String()}, nil
}
