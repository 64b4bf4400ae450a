// A server of its own for every test file: the real binary with an empty store.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export class Server {
  readonly url: string;
  readonly code: string;
  private constructor(
    private readonly child: ChildProcess,
    private readonly data: string,
    said: { url: string; code: string },
  ) {
    this.url = said.url;
    this.code = said.code;
  }

  /** start runs bin/rimewatch, with more flags if wanted, and waits until it serves. */
  static async start(...more: string[]): Promise<Server> {
    const data = mkdtempSync(join(tmpdir(), 'rimewatch-browser-'));
    const child = spawn('../bin/rimewatch', ['serve', '--data', join(data, 'store'), '--listen', '127.0.0.1:0', '--auth-rate-limit', '0', '--rate-limit', '0', ...more]);
    process.once('exit', () => child.kill('SIGKILL')); // also when the test runner gives up
    const said = await new Promise<{ url: string; code: string }>((resolve, reject) => {
      let log = '';
      const read = (part: Buffer) => {
        log += part.toString();
        const url = /msg=serving url=(\S+)/.exec(log)?.[1];
        const code = /code=(\S+)/.exec(log)?.[1];
        if (url && code) resolve({ url, code });
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.on('error', reject);
      child.on('exit', (status) => reject(new Error(`the server ended with ${status}:\n${log}`)));
    });
    return new Server(child, data, said);
  }

  /** run does what a command of the operator does, beside the server. */
  run(typed: string, ...args: string[]) {
    execFileSync('../bin/rimewatch', [...args, '--data', join(this.data, 'store')], { input: typed + '\n' });
  }

  async stop() {
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    if (this.child.exitCode === null && this.child.kill('SIGTERM')) await ended;
    rmSync(this.data, { recursive: true, force: true });
  }
}

/** Person is somebody with a password. */
export interface Person {
  email: string;
  password: string;
}

/** Office does what only signed-in people may, with a session as a browser has one. */
export class Office {
  private cookie = '';
  constructor(private readonly url: string) {}

  async send(method: string, path: string, body?: unknown): Promise<any> {
    const answer = await fetch(`${this.url}/api${path}`, {
      method,
      headers: { 'Content-Type': 'application/json', Cookie: this.cookie },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const set = answer.headers.get('set-cookie');
    if (set) this.cookie = set.split(';')[0]!;
    const said = await answer.json();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(said.error)}`);
    return said.data;
  }

  /** open sets the server up and returns its owner. */
  async open(code: string, timezone = 'Europe/Berlin'): Promise<Person> {
    const owner = { email: 'ada@example.com', password: 'a walk-in at three' };
    await this.send('POST', '/v1/setup', { code, workspace: 'Corner Shop', timezone, name: 'Ada', ...owner });
    return owner;
  }

  /** hire invites somebody, who accepts. */
  async hire(role: string): Promise<Person> {
    const person = { email: `${role}@example.com`, password: 'another walk-in' };
    const { secret } = await this.send('POST', '/v1/members', { email: person.email, role });
    await new Office(this.url).send('POST', '/v1/invitations/accept', { secret, name: role, password: person.password });
    return person;
  }

  /** token makes a full one. */
  async token(): Promise<string> {
    return (await this.send('POST', '/v1/tokens', { name: 'Test', scopes: ['full'] })).plain_token;
  }
}

/** Api speaks REST with a token, as a device or a program does. */
export class Api {
  constructor(
    private readonly url: string,
    private readonly token: string,
  ) {}

  async send(method: string, path: string, body?: unknown): Promise<{ status: number; data: any }> {
    const answer = await fetch(`${this.url}/api${path}`, {
      method,
      headers: { Authorization: `Bearer ${this.token}`, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const said = await answer.json();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(said.error)}`);
    return { status: answer.status, data: said.data };
  }

  /** import registers devices by CSV. */
  async import(csv: string) {
    const answer = await fetch(`${this.url}/api/v1/devices/import`, { method: 'POST', headers: { Authorization: `Bearer ${this.token}`, 'Content-Type': 'text/csv' }, body: csv });
    const said = await answer.json();
    if (!answer.ok || said.data.errors) throw new Error(`import: ${answer.status} ${JSON.stringify(said)}`);
  }

  /** settled sends a temperature until it counts: one that no unit can have come to by now is put aside until three readings show it. */
  async settled(serial: string, t: number, more: { recorded_at?: () => string } = {}) {
    for (let i = 0; i < 3; i++) await this.send('POST', '/v1/readings', { device_serial: serial, product_zone_temp: t, ...(more.recorded_at ? { recorded_at: more.recorded_at() } : {}) });
  }

  /** history sends a reading a minute, the last one now. */
  history(serial: string, temperatures: number[]) {
    const now = Date.now();
    return this.send('POST', '/v1/readings/batch', {
      readings: temperatures.map((t, i) => ({
        device_serial: serial,
        recorded_at: new Date(now - (temperatures.length - 1 - i) * 60_000).toISOString(),
        product_zone_temp: t,
      })),
    });
  }
}
