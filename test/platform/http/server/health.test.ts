import { describe, expect, jest, test } from '@jest/globals';
import type { Check } from '../../../../src/platform/temporal/readiness.js';
import { httpOfFile } from '../support.js';

const http = httpOfFile({ readiness: async () => checks });
let checks: Check[] = [];

describe('/readyz', () => {
  test('is 200 when all parts are ready', async () => {
    checks = (['database', 'migrations', 'temporal', 'worker'] as const).map((name) => ({
      name,
      ok: true,
      detail: null,
    }));
    const { status, body } = await http.call('GET', '/readyz');
    expect(status).toBe(200);
    expect(body.status).toBe('ready');
    expect(Object.keys(body.checks)).toEqual(['database', 'migrations', 'temporal', 'worker']);
  });

  describe('when a part is missing', () => {
    const parts = ['database', 'migrations', 'temporal', 'worker'] as const;
    const missing = (name: (typeof parts)[number]) => (checks = [{ name, ok: false, detail: 'gone fishing' }]);

    test.each(parts)('names %s, with the reason to a caller with a key', async (name) => {
      missing(name);
      const { status, body } = await http.call('GET', '/readyz');
      expect([status, body]).toEqual([
        503,
        { status: 'not_ready', checks: { [name]: { ok: false, detail: 'gone fishing' } } },
      ]);
    });

    test('shows its name alone without a key', async () => {
      missing('temporal');
      const answer = await http.app.inject('/readyz');
      expect([answer.statusCode, answer.json()]).toEqual([
        503,
        { status: 'not_ready', checks: { temporal: { ok: false, detail: null } } },
      ]);
    });

    test('refuses an unknown key', async () => {
      expect((await http.call('GET', '/readyz', undefined, { authorization: 'Bearer unknown' })).status).toBe(401);
    });

    test('shows its name alone when the key cannot be looked up', async () => {
      missing('database');
      const lookUp = jest.spyOn(http.db, 'auth').mockRejectedValue(Object.assign(new Error(), { code: '53300' }));
      const answer = await http.call('GET', '/readyz', undefined, { authorization: 'Bearer another' });
      lookUp.mockRestore();
      expect([answer.status, answer.body.checks]).toEqual([503, { database: { ok: false, detail: null } }]);
    });
  });
});

describe('/readyz?exclude=', () => {
  const missing = (...names: Check['name'][]) =>
    (checks = (['database', 'temporal', 'worker'] as const).map((name) => ({
      name,
      ok: !names.includes(name),
      detail: null,
    })));

  test('leaves checks out, for a probe that others shall not fail', async () => {
    missing('worker', 'temporal');
    const both = await http.call('GET', '/readyz?exclude=worker,temporal');
    expect([both.status, both.body]).toEqual([
      200,
      { status: 'ready', checks: { database: { ok: true, detail: null } } },
    ]);
    const one = await http.call('GET', '/readyz?exclude=worker');
    expect([one.status, Object.keys(one.body.checks as object)]).toEqual([503, ['database', 'temporal']]);
  });

  test('does not hide the others', async () => {
    missing('database', 'worker');
    expect((await http.call('GET', '/readyz?exclude=worker')).status).toBe(503);
  });

  test('refuses a name that no check has', async () => {
    const { status, body } = await http.call('GET', '/readyz?exclude=wroker');
    expect([status, body.errors]).toMatchObject([422, [{ pointer: '/exclude' }]]);
  });
});

test('/ describes the service to clients that ask for JSON, with security headers', async () => {
  const { body, headers } = await http.call('GET', '/', undefined, { accept: 'application/json' });
  expect(body).toMatchObject({ name: 'ratchet', docs: '/docs' });
  expect(headers['x-content-type-options']).toBe('nosniff');
  expect(headers['strict-transport-security']).toBeUndefined();
});

test('GET /api/v1/providers lists the providers', async () => {
  const { body } = await http.call('GET', '/api/v1/providers');
  expect(body).toEqual({ providers: [{ name: 'local', usable: true, reason: null }] });
});
