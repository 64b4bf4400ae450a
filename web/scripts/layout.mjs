// What a machine can see of a page's looks: run in the page, by the browser tests and by the screenshots.

/** untidy returns what does not fit: labels that are cut off, text that leaves its
 * button or lies over other text. What a person or a device has named may be cut
 * off where its whole stands in the title. */
export function untidy() {
  const found = [];
  const put = (what, e, text) => found.push(`${what}: ${e.tagName.toLowerCase()}.${String(e.getAttribute('class') ?? '').split(/\s+/).slice(0, 4).join('.')} “${text.trim().replace(/\s+/g, ' ').slice(0, 60)}”`);
  const scope = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body;
  const style = new Map();
  const styled = (e) => style.get(e) ?? (style.set(e, getComputedStyle(e)), style.get(e));
  const above = function* (e) { for (; e && e !== document.documentElement; e = e.parentElement) yield e; };

  const lines = []; // of text, as painted
  const texts = document.createTreeWalker(scope, NodeFilter.SHOW_TEXT);
  for (let n = texts.nextNode(); n; n = texts.nextNode()) {
    const e = n.parentElement;
    if (!n.nodeValue.trim() || e.closest('.modal-backdrop') || /^(SCRIPT|STYLE|OPTION|TEXTAREA|TITLE|text)$/.test(e.tagName) || !e.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(n);
    const whole = range.getBoundingClientRect();
    if (whole.width < 1 || whole.height < 1) continue;
    // For screen readers alone.
    if ([...above(e)].some((a) => styled(a).clipPath !== 'none' || styled(a).clip !== 'auto' || (a.offsetWidth <= 1 && a.offsetHeight <= 1 && styled(a).position === 'absolute'))) continue;
    let left = -Infinity, right = Infinity, top = -Infinity, bottom = Infinity, floats = false, within = true, cut = false, scrolls = false;
    for (const a of above(e)) {
      const s = styled(a);
      const box = a.getBoundingClientRect();
      if (a === document.body) break;
      if (a === scope) within = false;
      if (within && (s.position === 'fixed' || s.position === 'sticky')) floats = true;
      if (s.overflowX === 'auto' || s.overflowX === 'scroll') scrolls = true;
      if (s.overflowX === 'hidden' || s.overflowX === 'clip') {
        if (!cut && !scrolls && (whole.right > box.right + 1 || whole.left < box.left - 1)) {
          cut = true;
          if (!a.title && !e.closest('[title]')) put('cut off', a, n.nodeValue);
        }
      }
      if (s.overflowX !== 'visible') [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
      if (s.overflowY !== 'visible') [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
    }
    const button = e.closest('button, .btn, .badge, th, td, summary, .tab');
    if (button && !cut) {
      const box = button.getBoundingClientRect();
      if (whole.right > box.right + 1 || whole.left < box.left - 1 || whole.bottom > box.bottom + 3 || whole.top < box.top - 3) put('leaves its box', button, n.nodeValue);
    }
    if (floats) continue;
    for (const r of range.getClientRects()) {
      const l = { e, text: n.nodeValue, left: Math.max(r.left, left), right: Math.min(r.right, right), top: Math.max(r.top, top), bottom: Math.min(r.bottom, bottom) };
      if (l.right - l.left > 2 && l.bottom - l.top > 4) lines.push(l);
    }
  }
  // A line's box is higher than its letters: only what overlaps by more than a third of it is over something.
  lines.sort((a, b) => a.top - b.top);
  for (const [i, a] of lines.entries()) {
    for (let k = i + 1; k < lines.length && lines[k].top < a.bottom; k++) {
      const b = lines[k];
      if (a.e === b.e || a.e.contains(b.e) && styled(b.e).display === 'inline' || b.e.contains(a.e) && styled(a.e).display === 'inline') continue;
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - b.top;
      if (wide > 3 && high > Math.min(a.bottom - a.top, b.bottom - b.top) / 3) put(`over “${a.text.trim().slice(0, 40)}”`, b.e, b.text);
    }
  }
  const pen = document.createElement('canvas').getContext('2d');
  for (const e of scope.querySelectorAll('select:not([multiple]), input')) {
    const text = e.tagName === 'SELECT' ? e.selectedOptions[0]?.text : e.value ? '' : e.placeholder;
    if (!text || !e.checkVisibility()) continue;
    const s = getComputedStyle(e);
    pen.font = `${s.fontWeight} ${s.fontSize} ${s.fontFamily}`;
    const room = e.clientWidth - parseFloat(s.paddingLeft) - parseFloat(s.paddingRight);
    if (pen.measureText(text.trim()).width > room + 1 && !e.title) put(`no room (${Math.round(pen.measureText(text.trim()).width - room)} px)`, e, text);
  }
  return [...new Set(found)];
}

/** narrow returns what is smaller than a thumb: of what can be pressed, whatever is less than 44 px high or wide. Links within
 * a sentence are as high as its line, what stands on a drawing is in a list as well, and what a label, or a link over all of its
 * card, makes larger counts as large as that. */
export function narrow() {
  const scope = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body;
  const found = [];
  for (const e of scope.querySelectorAll('a[href], button, input, select, textarea, summary, [role=button], [role=tab]')) {
    if (e.closest('.modal-backdrop, [inert], [aria-hidden=true]') || e.tabIndex < 0 || e.disabled || !e.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const s = getComputedStyle(e);
    if (s.display === 'inline' || s.position === 'absolute' || s.clipPath !== 'none' || e.offsetWidth <= 1 || getComputedStyle(e, '::after').position === 'absolute') continue;
    const box = (e.closest('label, .input') ?? e).getBoundingClientRect();
    if (box.width > 43.5 && box.height > 43.5) continue;
    found.push(`too small for a thumb (${Math.round(box.width)} × ${Math.round(box.height)}): ${e.tagName.toLowerCase()}.${String(e.getAttribute('class') ?? '').split(/\s+/).slice(0, 4).join('.')} “${(e.getAttribute('aria-label') ?? e.textContent ?? '').trim().replace(/\s+/g, ' ').slice(0, 40)}”`);
  }
  return [...new Set(found)];
}
