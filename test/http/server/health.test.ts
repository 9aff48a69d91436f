import { describe, expect, test } from '@jest/globals';
import type { Check } from '../../../src/temporal/readiness.js';
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

  test.each(['database', 'migrations', 'temporal', 'worker'] as const)('names %s when it is missing', async (name) => {
    checks = [{ name, ok: false, detail: 'gone fishing' }];
    const { status, body } = await http.call('GET', '/readyz');
    expect([status, body]).toEqual([
      503,
      { status: 'not_ready', checks: { [name]: { ok: false, detail: 'gone fishing' } } },
    ]);
  });
});

test('/ describes the service, with security headers', async () => {
  const { body, headers } = await http.call('GET', '/');
  expect(body).toMatchObject({ name: 'ratchet', docs: '/docs' });
  expect(headers['x-content-type-options']).toBe('nosniff');
  expect(headers['strict-transport-security']).toBeUndefined();
});

test('GET /api/v1/providers lists the providers', async () => {
  const { body } = await http.call('GET', '/api/v1/providers');
  expect(body).toEqual({ providers: [{ name: 'local', usable: true, reason: null }] });
});
