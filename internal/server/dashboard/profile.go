package dashboard

import "github.com/rowlock/rowlock/web/page"

func showProfile(v *visit) error {
	view, err := v.profile(v.person().Name)
	if err != nil {
		return err
	}
	return v.page(page.ProfilePage(view))
}

func (v *visit) profile(name string) (page.Profile, error) {
	frame, _, err := v.frame("Profile", "")
	return page.Profile{Frame: frame, Name: name, Email: v.person().Email}, err
}

func renamePerson(v *visit) error {
	f, err := v.readForm()
	if err != nil {
		return err
	}
	if f.ok() {
		err := v.d.Accounts.Rename(v.ctx(), v.person().ID, f.text(fieldName))
		if err == nil {
			return v.done("/me/profile", "Your name is changed.")
		}
		if !f.take(err, map[string]string{fieldName: fieldName}, nil) {
			return err
		}
	}
	view, err := v.profile(f.text(fieldName))
	if err != nil {
		return err
	}
	view.Errors = f.errors
	return v.invalid(page.ProfilePage(view))
}
