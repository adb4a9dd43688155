package dashboard

// root leads to the account last used; to the list of accounts, if there is
// none; and to where one can log in, or sign up to an instance that is new.
func root(v *visit) error {
	if !v.known() {
		state, err := v.d.Accounts.SignupState(v.ctx())
		if err != nil {
			return err
		}
		if !state.HasOwner {
			return v.redirect("/signup")
		}
		return v.redirect("/login")
	}
	all, err := v.d.Accounts.Accounts(v.ctx(), v.person().ID)
	if err != nil {
		return err
	}
	for _, m := range all {
		if last := v.session.LastAccount; last != nil && m.Account.ID == *last {
			return v.redirect(accountPath(m.Account))
		}
	}
	if len(all) > 0 {
		return v.redirect(accountPath(all[0].Account))
	}
	return v.redirect("/accounts")
}
