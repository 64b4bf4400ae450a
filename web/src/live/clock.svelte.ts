// Now, as the server sees it. A phone's clock may be minutes off; "4 min ago"
// must not be.
class Clock {
  /** Milliseconds since 1970, once a second. */
  now = $state(Date.now());
  private skew = 0;

  constructor() {
    setInterval(() => (this.now = this.exact()), 1000);
  }

  exact(): number {
    return Date.now() + this.skew;
  }

  /** heard takes the Date header of an answer. It knows seconds only, and the
   * way of the answer counts too, so small differences are taken for none. */
  heard(date: string | null) {
    const server = date ? Date.parse(date) : NaN;
    if (Number.isNaN(server)) return;
    const skew = server + 500 - Date.now();
    this.skew = Math.abs(skew) > 3000 ? skew : 0;
  }
}

export const clock = new Clock();
