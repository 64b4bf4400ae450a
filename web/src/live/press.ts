// What a finger or a mouse presses stays where it is until it has been clicked: where another row lies there at the
// release, a browser gives the click to neither, or to that one.
const late = 100; // ms after the release until which browsers say what was clicked

let pressed = false;
let released: ReturnType<typeof setTimeout> | undefined;
const waiting: (() => void)[] = [];

function rest() {
  pressed = false;
  released = undefined;
  for (const run of waiting.splice(0)) run();
}

// A menu or another window may take a release: the next move shows it.
for (const name of ['pointerdown', 'pointermove', 'pointerup', 'pointercancel'] as const)
  addEventListener(
    name,
    ({ buttons }) => {
      if (buttons) {
        clearTimeout(released);
        released = undefined;
        pressed = true;
      } else if (pressed) released ??= setTimeout(rest, late);
    },
    true,
  );

/** unpressed runs what moves things, at once or when nothing is pressed any more. */
export function unpressed(run: () => void) {
  if (pressed) waiting.push(run);
  else run();
}
