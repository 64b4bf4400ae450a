// What a finger or a mouse presses stays where it is until it has been clicked: where another row lies there at the
// release, a browser gives the click to neither.
const late = 100; // ms after the release until which browsers say what was clicked

let pressed = false;
let released: ReturnType<typeof setTimeout> | undefined;
const waiting: (() => void)[] = [];

function press() {
  clearTimeout(released);
  released = undefined;
  pressed = true;
}

function release() {
  if (pressed) released ??= setTimeout(rest, late);
}

function rest() {
  released = undefined;
  pressed = false;
  for (const run of waiting.splice(0)) run();
}

addEventListener('pointerdown', press, true);
for (const end of ['pointerup', 'pointercancel']) addEventListener(end, release, true);
// A menu or another window may have taken the release.
addEventListener('blur', release); // of the window alone
addEventListener('pointermove', (e) => e.buttons === 0 && release(), { capture: true, passive: true });

/** unpressed runs what moves things, at once or when nothing is pressed any more. */
export function unpressed(run: () => void) {
  if (pressed) waiting.push(run);
  else run();
}
