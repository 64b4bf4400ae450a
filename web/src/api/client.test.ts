import { afterEach, expect, it, vi } from 'vitest';
import { api } from './client';

afterEach(() => void vi.unstubAllGlobals());

// A request with the old session that came after the new password would be refused, and the person signed out.
it('renews the session while nothing else is under way', async () => {
  const asked: string[] = [];
  const answer: Record<string, () => void> = {};
  vi.stubGlobal('fetch', (path: string) => {
    asked.push(path);
    return new Promise<Response>((resolve) => (answer[path] = () => resolve(new Response('{}'))));
  });
  const settle = () => new Promise((done) => setTimeout(done));
  const before = api.GET('/v1/devices');
  await settle();
  const password = api.POST('/v1/me/password', { body: { current_password: 'a', password: 'b' } });
  const after = api.GET('/v1/alerts');
  await settle();
  expect(asked).toEqual(['/api/v1/devices']);
  answer['/api/v1/devices']!();
  await before;
  await settle();
  expect(asked).toEqual(['/api/v1/devices', '/api/v1/me/password']);
  answer['/api/v1/me/password']!();
  await password;
  await settle();
  expect(asked).toEqual(['/api/v1/devices', '/api/v1/me/password', '/api/v1/alerts']);
  answer['/api/v1/alerts']!();
  await after;
});
