// A mail server that takes every mail.
import { createServer, type AddressInfo } from 'node:net';
import { afterAll } from 'vitest';

/** mailbox opens a mail server for the tests of a file: what it took, and the flags by which a server sends to it. */
export async function mailbox(): Promise<{ mails: string[]; flags: string[] }> {
  const mails: string[] = [];
  const server = createServer((socket) => {
    let text = '';
    let letter = false;
    socket.write('220 mail\r\n');
    socket.on('data', (part) => {
      text += part.toString('latin1');
      for (let end = text.indexOf('\r\n'); end >= 0; end = text.indexOf('\r\n')) {
        if (letter) {
          const last = text.indexOf('\r\n.\r\n');
          if (last < 0) return;
          mails.push(text.slice(0, last));
          text = text.slice(last + 5);
          letter = false;
          socket.write('250 taken\r\n');
          continue;
        }
        const line = text.slice(0, end).toUpperCase();
        text = text.slice(end + 2);
        letter = line.startsWith('DATA');
        socket.write(letter ? '354 go on\r\n' : line.startsWith('QUIT') ? '221 bye\r\n' : '250 mail\r\n');
      }
    });
    socket.on('error', () => socket.destroy());
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  afterAll(() => new Promise((closed) => server.close(closed)));
  const port = String((server.address() as AddressInfo).port);
  return { mails, flags: ['--smtp-host', '127.0.0.1', '--smtp-port', port, '--smtp-tls', 'none', '--smtp-from', 'Rimewatch <watch@example.org>'] };
}

/** linkIn is the first address in a mail whose path begins so. */
export function linkIn(mail: string, path: string): string {
  const text = mail.replace(/=\r\n/g, '').replace(/=3D/g, '=');
  return new RegExp(`https?://[^/\\s"]+(${path}[\\w-]+)`).exec(text)?.[1] ?? '';
}
