import { EventEmitter, once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { App } from '../../../../src/platform/http/deps.js';
import { createSessionSchema } from '../../../../src/kinds/session/contract/create.js';
import { ApiError, openAiError, pointerOf, problem, toApiError } from '../../../../src/platform/http/server/errors.js';
import { fromIssues } from '../../../../src/platform/http/server/faults.js';
import { until } from '../../../support/until.js';
import { startHttp, type TestHttp } from '../support.js';

const sessions = '/api/v1/online/sessions';
let http: TestHttp;
let url: string;
let failing: (() => never) | null = null;

beforeAll(async () => {
  http = await startHttp({
    registerInference: (app) => {
      app.get('/api/test/fail', () => failing?.() ?? 'fine');
      app.post(
        '/api/gepa/v1/:session_id/chat/completions',
        { config: { access: 'inference' } },
        () => failing?.() ?? 'fine',
      );
    },
  });
  url = await http.listen();
});
afterAll(() => http.close());
beforeEach(() => {
  failing = null;
});

describe('the format', () => {
  test('a problem is RFC 9457 with the error of OpenAI beside it', async () => {
    const { status, headers, body } = await http.call('POST', `${sessions}?x=1`, {});
    expect(status).toBe(422);
    expect(headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(body).toEqual({
      type: 'urn:ratchet:problem:validation_failed',
      title: 'Invalid request',
      status: 422,
      detail: expect.stringContaining('policy_optimization'),
      instance: sessions,
      code: 'validation_failed',
      request_id: headers['x-request-id'],
      errors: [{ pointer: '/policy_optimization', message: 'is required' }],
      error: {
        message: body.detail,
        type: 'invalid_request_error',
        code: 'validation_failed',
        param: 'policy_optimization',
      },
    });
  });

  test('inference paths answer with the error of OpenAI only, including unknown routes', async () => {
    failing = () => {
      throw new ApiError(409, 'session_cancelled', 'The session is cancelled.');
    };
    const refused = await http.call('POST', '/api/gepa/v1/ses_1/chat/completions', {});
    expect(refused.status).toBe(409);
    expect(refused.headers['x-should-retry']).toBe('false');
    expect(refused.body).toEqual({
      error: { message: 'The session is cancelled.', type: 'conflict_error', code: 'session_cancelled', param: null },
    });
    const unknown = await http.call('POST', '/api/gepa/v1/no/such/path', {});
    expect([unknown.status, Object.keys(unknown.body)]).toEqual([404, ['error']]);
    const broken = await http.call('POST', '/api/gepa/v1/ses_1/chat/completions', '{"messages": [');
    expect([broken.status, broken.body.error.code]).toEqual([400, 'malformed_json']);
  });

  test('429 and 503 have a retry-after, preferably their own', async () => {
    failing = () => {
      throw new ApiError(429, 'too_many_requests', 'Too fast.');
    };
    expect((await http.call('GET', '/api/test/fail')).headers['retry-after']).toBe('1');
    failing = () => {
      throw new ApiError(503, 'budget_busy', 'Busy.', { headers: { 'retry-after': '7' } });
    };
    expect((await http.call('GET', '/api/test/fail')).headers['retry-after']).toBe('7');
  });

  test('pointers and parameters survive names with slashes and tildes', () => {
    const pointer = pointerOf(['a/b', 'c~d', 0]);
    expect(pointer).toBe('/a~1b/c~0d/0');
    const error = new ApiError(422, 'validation_failed', 'x', { errors: [{ pointer, message: 'm' }] });
    expect(openAiError(error).error.param).toBe('a/b.c~d.0');
  });

  test('lists at most twenty faults, and unknown fields by their own names', () => {
    const schema = createSessionSchema;
    const many = fromIssues(
      Array.from({ length: 50 }, (_, i) => ({ path: ['seeds', i], message: 'bad' })),
      schema,
    );
    expect(many.errors).toHaveLength(20);
    expect(many.message).toContain('and 17 more');
    const unknown = fromIssues([{ code: 'unrecognized_keys', path: ['a'], message: '', keys: ['b', 'c'] }], schema);
    expect(unknown.errors.map(({ pointer }) => pointer)).toEqual(['/a/b', '/a/c']);
    expect(problem(unknown, { url: '/x?y', id: 'r' })).toMatchObject({ instance: '/x', request_id: 'r', status: 422 });
  });
});

describe('each status', () => {
  test.each([
    ['incomplete JSON', '{"a": '],
    ['NaN', '{"a": NaN}'],
    ['a text without JSON', 'hello'],
  ])('400 for %s', async (_name, body) => {
    const answer = await http.call('POST', sessions, body);
    expect([answer.status, answer.body.code]).toEqual([400, 'malformed_json']);
  });

  test('400 for an invalid path', async () => {
    const answer = await http.call('GET', '/api/%zz');
    expect([answer.status, answer.body.code]).toEqual([400, 'bad_url']);
    expect(answer.headers['x-request-id']).toBeTruthy();
  });

  test('404 for an unknown path', async () => {
    const answer = await http.call('POST', '/api/graph-evolve/jobs', {});
    expect([answer.status, answer.body.code]).toEqual([404, 'not_found']);
  });

  test.each([
    'ses_0197f0f0f0f07000800000000000000f',
    'sess_1',
    'evl_1',
    'x%00y',
    "'; drop table jobs",
    'a'.repeat(290),
  ])('404 for the session %s', async (id) => {
    const answer = await http.call('GET', `${sessions}/${id}`);
    expect(answer.status).toBe(404);
  });

  test.each(['GET', 'POST'] as const)('404 for an id that no job can have, by %s', async (method) => {
    const path = method === 'GET' ? '' : '/pause';
    const { status, body } = await http.call(method, `${sessions}/${'a'.repeat(301)}${path}`);
    expect([status, body.code]).toEqual([404, 'not_found']);
    expect(body.detail).not.toMatch(/param/i);
  });

  test.each([
    ['DELETE', sessions, 'GET, HEAD, POST'],
    ['PUT', `${sessions}/ses_1`, 'DELETE, GET, HEAD, PATCH'],
    ['GET', `${sessions}/ses_1/pause`, 'POST'],
    ['POST', '/api/v1/offline/jobs/evl_1/traces', 'GET'],
  ] as const)('405 with Allow for %s %s', async (method, url, allow) => {
    const answer = await http.call(method, url);
    expect([answer.status, answer.headers['allow'], answer.body.code]).toEqual([405, allow, 'method_not_allowed']);
  });

  test.each([
    ['/', 'GET, HEAD'],
    ['/livez', 'GET, HEAD'],
    ['/readyz', 'GET, HEAD'],
    [sessions, 'GET, HEAD, POST'],
  ] as const)('405 with Allow for QUERY %s, with or without a content type', async (url, allow) => {
    const authorization = `Bearer ${http.key}`;
    for (const headers of [{ authorization }, { authorization, 'content-type': 'application/json' }]) {
      const { statusCode, headers: had } = await http.app.inject({ method: 'QUERY' as 'GET', url, headers });
      expect([statusCode, had['allow']]).toEqual([405, allow]);
    }
  });

  test('413 for a body over 1 MiB', async () => {
    const answer = await http.call('POST', sessions, { filler: 'x'.repeat(1024 * 1024) });
    expect([answer.status, answer.body.code]).toEqual([413, 'body_too_large']);
  });

  test('413 for a body over 1 MiB in chunks, without its length', async () => {
    const sent = request(`${url}${sessions}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${http.key}`, 'content-type': 'application/json' },
    });
    sent.write('{"filler":"');
    sent.end(`${'x'.repeat(1024 * 1024)}"}`);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    expect([answer.statusCode, JSON.parse(await text(answer)).code]).toEqual([413, 'body_too_large']);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'nonsense'])(
    '415 for %s',
    async (type) => {
      const answer = await http.call('POST', sessions, '{}', { 'content-type': type });
      expect([answer.status, answer.body.code]).toEqual([415, 'unsupported_media_type']);
    },
  );

  test('500 hides its reason', async () => {
    failing = () => {
      throw new Error('the secret is swordfish');
    };
    const answer = await http.call('GET', '/api/test/fail');
    expect([answer.status, answer.body.code]).toEqual([500, 'internal']);
    expect(JSON.stringify(answer.body)).not.toContain('swordfish');
  });

  test('503 for an unreachable database or a retryable error', () => {
    for (const code of ['ECONNREFUSED', '57P01', '53300', '08006', '40P01', '57014', '25006']) {
      expect(toApiError(Object.assign(new Error('x'), { code })).status).toBe(503);
    }
    expect(toApiError(new Error('timeout exceeded when trying to connect')).status).toBe(503);
    for (const code of ['EMFILE', 'ENOSPC'])
      expect(toApiError(Object.assign(new Error('x'), { code }))).toMatchObject({ status: 503, code: 'over_capacity' });
    expect(toApiError(Object.assign(new Error('x'), { code: '23505' })).status).toBe(500);
    expect(toApiError(Object.assign(new Error('x'), { code: '22003' })).status).toBe(422);
  });
});

describe('valid JSON that the contract refuses', () => {
  test.each([
    ['NUL in a text', '{"a":{"b":["x","y\\u0000"]}}', '/a/b/1'],
    ['NUL in a name', '{"a\\u0000":1}', '/a\0'],
    ['half a surrogate pair', '{"a":"\\ud800"}', '/a'],
    ['a number out of range', '{"a":[1e400]}', '/a/0'],
    ['a prototype key', '{"a":{"__proto__":{}}}', '/a/__proto__'],
  ])('%s is 422 with its pointer', async (_name, body, pointer) => {
    const answer = await http.call('POST', sessions, body);
    expect([answer.status, answer.body.errors?.[0].pointer]).toEqual([422, pointer]);
  });

  test('unlimited depth is 422, not a crash', async () => {
    const answer = await http.call('POST', sessions, '['.repeat(100_000) + ']'.repeat(100_000));
    expect(answer.status).toBe(422);
    expect(answer.body.detail).toContain('levels deep');
  });
});

describe('the request id', () => {
  test('keeps a valid one, replaces any other, and is in every answer', async () => {
    expect((await http.call('GET', '/livez', undefined, { 'x-request-id': 'abc-1.2:3' })).headers['x-request-id']).toBe(
      'abc-1.2:3',
    );
    const replaced = (await http.call('GET', '/livez', undefined, { 'x-request-id': 'a b"c' })).headers['x-request-id'];
    expect(replaced).toMatch(/^[0-9a-f-]{36}$/);
    for (const path of ['/', '/openapi.json', '/docs/', '/no', sessions, '/api/v1/providers']) {
      expect((await http.call('GET', path)).headers['x-request-id']).toBeTruthy();
    }
  });

  test('is in the problem for an invalid HTTP message, too', async () => {
    const { port, hostname } = new URL(url);
    const socket = connect(Number(port), hostname);
    let said = '';
    socket.on('data', (data) => (said += data.toString()));
    socket.write('GARBAGE\r\n\r\n');
    await once(socket, 'close');
    expect(said).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/);
    expect(said).toMatch(/x-request-id: [0-9a-f-]{36}/);
    expect(JSON.parse(said.split('\r\n\r\n')[1]!)).toMatchObject({ status: 400, code: 'bad_request' });
  });
});

describe('closing', () => {
  test('does not wait for a connection without a request', async () => {
    const closing = await startHttp();
    const { port, hostname } = new URL(await closing.listen());
    const accepted = once(closing.app.server, 'connection');
    const socket = connect(Number(port), hostname);
    await accepted;
    const gone = once(socket, 'close');
    await closing.close();
    await gone;
  }, 10_000);

  test('does not wait for a connection that has had its last answer', async () => {
    const steps = new EventEmitter();
    const registerInference = (app: App) =>
      void app.get('/api/test/stream', (_, reply) => {
        reply.hijack();
        reply.raw.writeHead(200).flushHeaders();
        steps.once('end', () => reply.raw.end('late'));
      });
    const closing = await startHttp({ registerInference });
    const agent = new Agent({ keepAlive: true });
    const headers = { authorization: `Bearer ${closing.key}` };
    const asked = request(`${await closing.listen()}/api/test/stream`, { agent, headers });
    asked.end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    closing.shutdown.abort();
    const closed = closing.close();
    await until('it accepts no connection', () => !closing.app.server.listening);
    steps.emit('end');
    expect(await text(answer)).toBe('late');
    await closed;
  }, 10_000);
});

describe('draining', () => {
  test('everything but the health routes is 503 with retry-after', async () => {
    const draining = await startHttp();
    draining.shutdown.abort();
    const answer = await draining.call('GET', sessions);
    expect([answer.status, answer.body.code, answer.headers['retry-after']]).toEqual([503, 'draining', '1']);
    expect(answer.headers['connection']).toBe('close');
    expect((await draining.call('GET', '/livez')).status).toBe(200);
    expect((await draining.call('GET', '/readyz')).body.status).toBe('draining');
    await draining.close();
  });
});
