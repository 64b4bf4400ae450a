// Seen is which rows of a long list are in the window: only they are drawn.
const spare = 2; // rows drawn beyond what is seen

export class Seen {
  private above = $state(0); // px of the list above the window
  private height = $state(0); // px of the window

  /** look measures the place of the list. */
  look(list: HTMLElement | undefined) {
    if (!list) return;
    this.above = -list.getBoundingClientRect().top;
    this.height = innerHeight;
  }

  /** rows returns the first row to draw of so many, and the one after the last. */
  rows(count: number, rowHeight: number): { first: number; last: number } {
    return {
      first: Math.max(0, Math.min(count - 1, Math.floor(this.above / rowHeight) - spare)),
      last: Math.max(0, Math.min(count, Math.ceil((this.above + this.height) / rowHeight) + spare)),
    };
  }
}
