package dashboard

import "github.com/rowlock/rowlock/web/page"

func showKit(v *visit) error {
	frame, _, err := v.frame("Components", "")
	if err != nil {
		return err
	}
	return v.page(page.KitPage(frame))
}
