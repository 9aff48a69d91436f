import { describe, expect, test } from '@jest/globals';
import { gzipSync } from 'node:zlib';
import { buildApp } from '../../../../src/platform/http/app.js';
import { createLoginTokens } from '../../../../src/platform/http/dashboard/login-tokens.js';
import { httpOfFile } from '../support.js';

const tokens = createLoginTokens('rk_first');
const http = httpOfFile({ loginTokens: tokens });
const get = (url: string, accept?: string) =>
  http.app.inject({ method: 'GET', url, headers: accept === undefined ? {} : { accept } });

/** The files that the page names. */
async function assets(): Promise<string[]> {
  const { body } = await get('/');
  return [...body.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path!);
}

describe('/', () => {
  test.each([
    ['text/html,application/xhtml+xml,*/*;q=0.8', 'text/html'],
    ['text/html,application/json', 'text/html'],
    ['*/*', 'text/html'],
    [undefined, 'text/html'],
    ['application/json', 'application/json'],
    ['application/json, text/plain', 'application/json'],
  ])('answers a client that accepts %p with %s', async (accept, type) => {
    const { statusCode, headers } = await get('/', accept);
    expect([statusCode, String(headers['content-type']).split(';')[0], headers['vary']]).toEqual([200, type, 'accept']);
  });

  test('is asked for anew on each visit, whatever the size and the date of its file', async () => {
    const { headers } = await get('/', 'text/html');
    expect(headers['cache-control']).toBe('no-cache');
    // A package from a registry gives each file the same date.
    expect([headers['etag'], headers['last-modified']]).toEqual([undefined, undefined]);
  });

  test('runs scripts of this service alone, none of them inline', async () => {
    const { headers, body } = await get('/', 'text/html');
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).not.toContain('unsafe');
    expect(body).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=/);
  });

  test('needs files that are cached for good and take less than 200 KB compressed', async () => {
    const paths = await assets();
    expect(paths.length).toBeGreaterThanOrEqual(2);
    let bytes = 0;
    for (const path of paths) {
      const { statusCode, headers, rawPayload } = await get(path);
      expect([path, statusCode]).toEqual([path, 200]);
      expect(headers['cache-control']).toContain('immutable');
      bytes += gzipSync(rawPayload).length;
    }
    expect(bytes).toBeLessThan(200_000);
  });
});

test.each(['/favicon.svg', '/favicon.ico'])('%s is an image, kept for a day', async (url) => {
  const { statusCode, headers } = await get(url);
  expect([statusCode, headers['content-type'], headers['cache-control']]).toEqual([
    200,
    'image/svg+xml',
    'max-age=86400',
  ]);
});

test('a process without login links has no login route', async () => {
  const app = await buildApp({ ...http.deps, loginTokens: null });
  const answer = await app.inject({ method: 'POST', url: '/api/v1/login', payload: { token: 'x' } });
  expect([answer.statusCode, answer.json().code]).toEqual([401, 'unauthorized']);
  await app.close();
});

describe('a login link', () => {
  const logIn = (token: string) => http.app.inject({ method: 'POST', url: '/api/v1/login', payload: { token } });

  test('signs in once', async () => {
    const token = tokens.issue();
    const first = await logIn(token);
    expect([first.statusCode, first.json()]).toEqual([200, { api_key: 'rk_first' }]);
    const second = await logIn(token);
    expect([second.statusCode, second.json().code]).toEqual([401, 'login_link_used']);
  });

  test.each(['x', '', 'a'.repeat(300)])('refuses the token %p', async (token) => {
    expect((await logIn(token)).statusCode).toBeGreaterThanOrEqual(400);
  });

  test.each([1_025, 900_000])('refuses a stranger’s body of %d bytes', async (bytes) => {
    const open = tokens.issue();
    const answer = await http.app.inject({ method: 'POST', url: '/api/v1/login', payload: { x: 'y'.repeat(bytes) } });
    expect([answer.statusCode, answer.json().code]).toEqual([413, 'body_too_large']);
    expect((await logIn(open)).statusCode).toBe(200);
  });

  test('once all are used, no body is read', async () => {
    const payload = 'no JSON';
    const headers = { 'content-type': 'application/json' };
    const answer = await http.app.inject({ method: 'POST', url: '/api/v1/login', payload, headers });
    expect([answer.statusCode, answer.json().code]).toEqual([401, 'login_link_used']);
  });

  test('is in the audit log, and its key in no cache', async () => {
    const { headers } = await logIn(tokens.issue());
    const { body } = await http.call('GET', '/api/v1/admin/audit-log?limit=1');
    expect(headers['cache-control']).toBe('no-store');
    expect(body.data[0]).toMatchObject({ action: 'POST /api/v1/login', key_id: 'bootstrap_default', status: 200 });
    expect((await logIn('unknown')).statusCode).toBe(401);
    expect((await http.call('GET', '/api/v1/admin/audit-log?limit=1')).body).toEqual(body);
  });

  test('expires after 15 minutes', () => {
    let now = 0;
    const { issue, exchange } = createLoginTokens('rk_first', () => now);
    const [kept, late] = [issue(), issue()];
    now = 15 * 60_000 - 1;
    expect(exchange(kept)).toBe('rk_first');
    now += 1;
    expect(exchange(late)).toBeNull();
  });

  test('with an Idempotency-Key is refused as without one', async () => {
    const headers = { 'idempotency-key': 'k1' };
    const answer = await http.app.inject({ method: 'POST', url: '/api/v1/login', headers, payload: { token: 'x' } });
    expect([answer.statusCode, answer.json().code]).toEqual([401, 'login_link_used']);
  });

  test('of one browser leaves that of another valid', async () => {
    const [one, other] = [tokens.issue(), tokens.issue()];
    expect((await logIn(one)).statusCode).toBe(200);
    expect((await logIn(other)).statusCode).toBe(200);
  });
});
