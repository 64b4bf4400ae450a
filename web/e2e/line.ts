// The network between a browser and a server, which a test can cut, or have swallow everything.
import { connect, createServer, type AddressInfo, type Server as Listener, type Socket } from 'node:net';

/** Line leads to the server, and can be cut. */
export class Line {
  cut = false;
  private silent = false;
  private waiting: (() => void)[] = [];
  private readonly open = new Set<Socket>();
  private constructor(
    readonly url: string,
    private readonly listener: Listener,
  ) {}

  static async to(target: string): Promise<Line> {
    const { hostname, port } = new URL(target);
    let line: Line;
    const listener = createServer((near) => {
      if (line.cut) {
        near.destroy();
        return;
      }
      const far = connect(Number(port), hostname);
      for (const s of [near, far]) {
        line.open.add(s);
        s.on('error', () => s.destroy());
        s.on('close', () => line.open.delete(s));
      }
      near.on('data', (part) => line.pass(() => far.write(part)));
      far.on('data', (part) => line.pass(() => near.write(part)));
      near.on('close', () => far.destroy());
      far.on('close', () => near.destroy());
    });
    await new Promise<void>((ready) => listener.listen(0, '127.0.0.1', ready));
    line = new Line(`http://127.0.0.1:${(listener.address() as AddressInfo).port}`, listener);
    return line;
  }

  /** swallow lets nothing through any more, and closes nothing: the half-open connections of a phone between two rooms. */
  swallow() {
    this.silent = true;
  }

  /** deliver lets through what has waited, and what comes. */
  deliver() {
    this.silent = false;
    for (const go of this.waiting.splice(0)) go();
  }

  private pass(go: () => void) {
    if (this.silent) this.waiting.push(go);
    else go();
  }

  break() {
    this.cut = true;
    for (const s of this.open) s.destroy();
  }

  close() {
    this.break();
    this.listener.close();
  }
}
