// Makes pages faster to use. Everything here also works without it, as a link,
// a form or a page of its own.
(() => {
	'use strict';
	const $ = (selector, from = document) => from.querySelector(selector);
	const $$ = (selector, from = document) => [...from.querySelectorAll(selector)];
	const on = (name, run, from = document) => from.addEventListener(name, run);
	const root = document.documentElement;
	root.dataset.js = ''; // the style sheet now shows what needs a script
	const { htmx } = window;
	if (htmx) htmx.config.history = false; // addresses change by links alone

	// ---- toasts: the server's leave after a while, save errors

	const toastStays = 8000;

	function expire(toast) {
		if (toast.dataset.tone === 'bad') return;
		let timer;
		const start = () => { timer = setTimeout(() => toast.remove(), toastStays); };
		const stop = () => clearTimeout(timer);
		for (const name of ['pointerenter', 'focusin']) on(name, stop, toast);
		for (const name of ['pointerleave', 'focusout']) on(name, start, toast);
		start();
	}

	function say(text, stays = 2500) {
		const toast = document.createElement('div');
		toast.className = 'toast';
		toast.textContent = text;
		$('#toasts')?.append(toast);
		setTimeout(() => toast.remove(), stays);
	}

	// ---- copying

	async function copy(button) {
		if (!await put(button.dataset.copy)) return say('Not copied. Select the text and copy it.', toastStays);
		button.dataset.done = '';
		say('Copied');
		setTimeout(() => delete button.dataset.done, 1200);
	}

	// put fills the clipboard, also on plain http, where browsers have no
	// navigator.clipboard.
	async function put(text) {
		try {
			await navigator.clipboard.writeText(text);
			return true;
		} catch {
			const area = document.createElement('textarea');
			area.value = text;
			area.className = 'sr-only';
			($('dialog[open]') || document.body).append(area);
			area.select();
			const done = document.execCommand('copy');
			area.remove();
			return done;
		}
	}

	// ---- menus, dialogs, clicks

	const closeMenus = (but) => $$('details.menu[open]').forEach((menu) => {
		if (!but || !menu.contains(but)) menu.open = false;
	});

	let pressed;
	on('pointerdown', (e) => { pressed = e.target; });
	on('click', (e) => {
		const hit = (selector) => e.target.closest?.(selector);
		closeMenus(e.target);
		const button = hit('[data-copy]');
		if (button) copy(button);
		hit('[data-dismiss]')?.closest('.toast').remove();
		const dialog = hit('[data-close]')?.closest('dialog');
		if (dialog) {
			e.preventDefault();
			dialog.close();
		}
		// The backdrop, unless a selection only ended there.
		if (e.target.matches?.('dialog') && pressed === e.target) e.target.close();
		if (hit('.live')) pause(!paused);
		const summary = hit('summary');
		if (summary) summary.parentElement.dataset.touched = '';
	});

	// The shell has one dialog, which htmx fills with what a link answers.
	const dialog = $('#dialog');
	let opener, changed;
	on('change', (e) => { changed = e.target.name; }, dialog || new EventTarget());
	on('close', () => {
		dialog.replaceChildren();
		if (opener?.isConnected) opener.focus();
	}, dialog || new EventTarget());

	on('htmx:before:response', (e) => {
		const { ctx } = e.detail;
		const { raw } = ctx.response;
		if (ctx.request.method !== 'GET' || (raw.ok && !raw.redirected)) return;
		e.preventDefault();
		if (ctx.sourceElement.href) location.href = ctx.sourceElement.href;
	});
	on('htmx:error', (e) => {
		const { ctx } = e.detail;
		if (ctx?.sourceElement.href) location.href = ctx.sourceElement.href;
	});
	on('htmx:after:swap', (e) => {
		const { ctx } = e.detail;
		if (!dialog || ctx.target !== dialog) return;
		if (dialog.open) { // it asks anew for what was chosen
			const again = $$(`[name="${CSS.escape(changed ?? '')}"]`, dialog);
			return (again.find((e) => e.checked) ?? again[0])?.focus();
		}
		closeMenus();
		// Who pressed a key stays where they were; what is in a menu cannot have the
		// focus again, but the menu's own button can.
		const { sourceElement } = ctx;
		opener = [document.activeElement, sourceElement, sourceElement.closest('details')?.firstElementChild]
			.find((e) => e && e !== document.body && (e.checkVisibility?.() ?? true));
		dialog.showModal();
		const first = '[autofocus], .body :is(input:not([type="hidden"], [type="radio"]:not(:checked)), select, textarea)';
		($('[aria-invalid="true"]', dialog) ?? $(first, dialog))?.focus();
	});

	// ---- forms: sent once, and the first field that is wrong has the focus

	on('submit', (e) => {
		const form = e.target;
		if (e.defaultPrevented || form.dataset.repeat !== undefined) return;
		if (form.dataset.sent) return e.preventDefault();
		form.dataset.sent = '1';
		e.submitter?.setAttribute('aria-busy', 'true');
	});
	// A page that comes back out of the browser's memory starts afresh.
	on('pageshow', (e) => {
		if (!e.persisted) return;
		$$('form[data-sent]').forEach((form) => delete form.dataset.sent);
		$$('[aria-busy="true"]').forEach((button) => button.removeAttribute('aria-busy'));
		listen();
	}, window);

	// ---- countdowns: the server wrote the text, this goes on from it

	function left(seconds) {
		const s = Math.abs(seconds);
		const two = (big, small, b, l) => {
			const n = Math.floor(s / big), rest = Math.floor(s % big / small);
			return rest ? n + b + ' ' + rest + l : n + ' ' + b;
		};
		const text = s < 60 ? s + ' s' : s < 3600 ? two(60, 1, 'm', 's') : s < 86400 ? two(3600, 60, 'h', 'm') : two(86400, 3600, 'd', 'h');
		return seconds < 0 ? text + ' ago' : text;
	}
	setInterval(() => $$('[data-left], [data-until]').forEach((e) => {
		const now = Date.now() / 1000;
		e.dataset.until ||= now + Number(e.dataset.left);
		e.textContent = left(Math.round(e.dataset.until - now));
	}), 1000);

	// ---- rows that are selected. Meanwhile nothing moves under the reader.

	const selecting = () => $('table[data-select] tbody .check:checked');

	function selection(table) {
		const bar = document.getElementById(table.dataset.select);
		const all = $('thead .check', table);
		const show = () => {
			const boxes = $$('tbody .check', table);
			const n = boxes.filter((box) => box.checked).length;
			if (stream) live();
			if (bar) {
				bar.hidden = !n;
				$$('[data-n]', bar).forEach((e) => { e.textContent = n; });
			}
			if (all) {
				all.checked = n > 0 && n === boxes.length;
				all.indeterminate = n > 0 && n < boxes.length;
			}
		};
		on('change', (e) => {
			if (e.target === all) $$('tbody .check', table).forEach((box) => { box.checked = all.checked; });
			show();
		}, table);
		// Who comes back from what was done with them begins anew.
		on('pageshow', (e) => {
			if (e.persisted) $$('.check', table).forEach((box) => { box.checked = false; });
			show();
		}, window);
		show();
	}

	// ---- tabs: without a script, every panel shows under its own heading

	function tabs(box) {
		const list = $('[role="tablist"]', box);
		const all = $$('[role="tab"]', list);
		const panel = (tab) => document.getElementById(tab.getAttribute('aria-controls'));
		const pick = (chosen) => all.forEach((tab) => {
			tab.setAttribute('aria-selected', tab === chosen);
			tab.tabIndex = tab === chosen ? 0 : -1;
			panel(tab).hidden = tab !== chosen;
		});
		box.dataset.tabs = 'on';
		list.hidden = false;
		pick(all.find((tab) => tab.getAttribute('aria-selected') === 'true') || all[0]);
		on('click', (e) => {
			const tab = e.target.closest('[role="tab"]');
			if (tab) pick(tab);
		}, list);
		on('keydown', (e) => {
			const at = all.indexOf(e.target);
			const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[e.key];
			if (to === undefined || at < 0) return;
			e.preventDefault();
			const tab = all.at(to % all.length);
			pick(tab);
			tab.focus();
		}, list);
	}

	// ---- charts: the numbers under the pointer

	function chart(plot) {
		const tip = document.createElement('div');
		tip.className = 'tip';
		tip.hidden = true;
		plot.append(tip);
		const row = (name, value) => {
			const line = document.createElement('div');
			line.append(document.createElement(value ? 'span' : 'b'), document.createElement('b'));
			line.firstChild.textContent = name;
			line.lastChild.textContent = value;
			return line;
		};
		const show = (e) => {
			const bin = e.target.closest?.('[data-tip]');
			tip.hidden = !bin;
			if (!bin) return;
			const [title, ...pairs] = bin.dataset.tip.split('|');
			tip.replaceChildren(row(title, ''));
			for (let i = 0; i < pairs.length; i += 2) tip.append(row(pairs[i], pairs[i + 1]));
			const box = plot.getBoundingClientRect();
			const x = e.clientX - box.left;
			tip.style.insetInlineStart = Math.max(0, x > box.width - 190 ? x - 172 : x + 14) + 'px';
			tip.style.insetBlockStart = '8px';
		};
		on('pointermove', show, plot);
		on('pointerdown', show, plot);
		on('pointerleave', () => { tip.hidden = true; }, plot);
		if ('zoom' in plot.dataset) zoom(plot);
	}

	// zoom leads from the bars that were dragged over to their time: from the
	// first one's beginning to the last one's end.
	function zoom(plot) {
		let from;
		const bins = $$('a.bin', plot);
		const at = (e) => bins.indexOf(e.target.closest?.('a.bin'));
		const mark = (e) => {
			const ends = [from, at(e)].sort((a, b) => a - b);
			bins.forEach((bin, i) => bin.toggleAttribute('data-in', from >= 0 && ends[0] >= 0 && i >= ends[0] && i <= ends[1]));
			return ends.map((i) => bins[i] && new URL(bins[i].href.baseVal, location));
		};
		on('dragstart', (e) => e.preventDefault(), plot);
		on('pointerdown', (e) => { from = at(e); }, plot);
		on('pointermove', (e) => { if (e.buttons) mark(e); }, plot);
		on('pointerup', (e) => {
			const [first, last] = mark(e);
			if (!first || from < 0 || from === at(e)) return;
			first.searchParams.set('until', last.searchParams.get('until'));
			location.href = first;
		}, plot);
		on('pointerup', () => {
			from = -1;
			bins.forEach((bin) => bin.removeAttribute('data-in'));
		});
	}

	// ---- live: hints that something is new. Nothing depends on them.

	const refreshPause = 2000;
	const { stream, since = '' } = document.body.dataset;
	const seen = {};
	let stale = new Set();
	let source, retry, refreshing;
	let failures = 0, paused = false;

	function state(text) {
		$$('.live').forEach((e) => {
			e.dataset.state = text === 'Live' ? 'live' : 'paused';
			e.textContent = text;
		});
	}

	function live() { state(paused ? 'Paused' : selecting() ? 'Paused while rows are selected' : 'Live'); }

	function hush() {
		clearTimeout(retry);
		source?.close();
		source = null;
	}

	function listen() {
		if (!stream || paused || source || document.hidden) return;
		clearTimeout(retry);
		const url = new URL(stream, location);
		url.searchParams.set('since', since);
		source = new EventSource(url);
		source.onopen = () => { failures = 0; live(); };
		source.onmessage = (e) => hint(JSON.parse(e.data));
		source.onerror = () => {
			state('Reconnecting');
			if (source?.readyState !== EventSource.CLOSED) return; // it tries again by itself
			hush();
			retry = setTimeout(listen, Math.min(60000, 1000 * 2 ** failures++) * (0.5 + Math.random()));
		};
	}

	function pause(yes) {
		paused = yes;
		if (!stream) return;
		live();
		paused ? hush() : listen();
	}

	function hint(counts) {
		for (const [topic, n] of Object.entries(counts)) {
			if (seen[topic] === n || (!n && !seen[topic])) continue;
			seen[topic] = n;
			$$(`[data-live-new="${CSS.escape(topic)}"]`).forEach((e) => {
				e.hidden = !n;
				e.textContent = `${n.toLocaleString('en')} ${n === 1 ? e.dataset.one : e.dataset.many}`;
			});
			if ($(`[data-live-refresh~="${CSS.escape(topic)}"]`)) stale.add(topic);
		}
		if (stale.size && !refreshing) refresh();
	}

	// A part of the page in which somebody is at work is left as it is.
	function atWork(part) {
		const focus = document.activeElement;
		const chosen = getSelection();
		return $('dialog[open]') || $('tbody .check:checked, details[open][data-touched]', part)
			|| (part.contains(focus) && focus.matches('input, select, textarea, details[open] *'))
			|| (!chosen.isCollapsed && part.contains(chosen.anchorNode));
	}

	const topics = (part) => part.dataset.liveRefresh.split(' ');

	// refresh reads this page again and takes over the parts that are stale.
	async function refresh() {
		refreshing = true;
		const parts = $$('[data-live-refresh]').filter((part) => part.id && topics(part).some((topic) => stale.has(topic)));
		const ready = paused || document.hidden || selecting() ? [] : parts.filter((part) => !atWork(part));
		stale = new Set(parts.filter((part) => !ready.includes(part)).flatMap(topics));
		if (ready.length && htmx) {
			const [first, ...rest] = ready.map((part) => '#' + CSS.escape(part.id));
			await htmx.ajax('GET', location.pathname + location.search, {
				target: first, select: first, swap: 'outerMorph', selectOOB: rest.map((id) => id + ':outerMorph').join(','),
			}).catch(() => {});
		}
		setTimeout(() => {
			refreshing = false;
			if (stale.size) refresh();
		}, refreshPause);
	}

	on('visibilitychange', () => (document.hidden ? hush() : listen()));
	on('pagehide', hush, window);

	// ---- keys

	const goWithin = 900;
	let goSince = 0;
	const keys = {
		'/': () => ($('.search input') ?? $('[data-search]'))?.focus(),
		'?': () => $('#keys')?.showModal(),
		'.': () => pause(!paused),
		g: () => { goSince = Date.now(); },
		j: () => move(1),
		k: () => move(-1),
		x: () => $('.check', document.activeElement.closest('tr') || new DocumentFragment())?.click(),
		p: () => press('p'),
		r: () => press('r'),
	};

	// press does what a key stands for: with the rows that are selected, with the
	// one that has the focus, or with what the page is about.
	function press(key) {
		const hit = (from) => from && $(`[data-key="${key}"]`, from);
		const row = document.activeElement.closest('tr');
		((selecting() && hit($('.bulk'))) || hit(row) || hit($('.head')))?.click();
	}

	function move(by) {
		const rows = $$('tbody a.cell').filter((link) => link.checkVisibility?.() ?? true);
		const at = rows.findIndex((link) => link.closest('tr').contains(document.activeElement));
		rows[Math.max(0, Math.min(rows.length - 1, at + by))]?.focus();
	}

	on('keydown', (e) => {
		if (e.key === 'Escape') {
			const menu = document.activeElement.closest('details.menu[open]');
			closeMenus();
			menu?.firstElementChild.focus();
		}
		if (root.dataset.keys === 'off' || e.metaKey || e.ctrlKey || e.altKey || e.isComposing) return;
		if (e.target.closest('input:not([type="checkbox"]), textarea, select, [contenteditable]') || $('dialog[open]')) return;
		const link = Date.now() - goSince < goWithin && $(`a[data-go="${CSS.escape(e.key)}"]`);
		goSince = 0;
		if (link) return link.click();
		if (!Object.hasOwn(keys, e.key)) return;
		e.preventDefault();
		keys[e.key]();
	});

	// ---- what is there now, and what htmx brings

	function enhance(from) {
		const fresh = (selector) => $$(selector, from).filter((e) => !e.enhanced && (e.enhanced = true));
		fresh('.no-js').forEach((e) => e.remove()); // its buttons would answer to Enter
		fresh('[data-tabs]').forEach(tabs);
		fresh('[data-chart]').forEach(chart);
		fresh('table[data-select]').forEach(selection);
		fresh('[data-toast]').forEach(expire);
	}

	enhance(document);
	on('htmx:after:swap', () => enhance(document));
	$('[aria-invalid="true"]')?.focus();
	listen();
})();
