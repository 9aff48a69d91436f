/** Any input gets an answer of the contract: never a 500, never a hang, always a request id. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createEvaluation, createSession, evaluationRequest, httpOfFile, sessionRequest } from '../support.js';
import { runs } from '../../../support/runs.js';

const http = httpOfFile();
let session: string;
let evaluation: string;
beforeAll(async () => {
  session = await createSession(http);
  evaluation = await createEvaluation(http);
});

const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('\0', '\ud800', '__proto__', -0, 1e308, 2 ** 53, 'http://', 'http://[', {}, [], null, true),
);

/** The request with one of its fields, at any depth, replaced. */
function spoiled(good: object): fc.Arbitrary<unknown> {
  const paths: string[][] = [];
  const walk = (value: unknown, path: string[]) => {
    if (path.length > 0) paths.push(path);
    if (typeof value === 'object' && value !== null)
      for (const [key, inner] of Object.entries(value)) walk(inner, [...path, key]);
  };
  walk(good, []);
  return fc.tuple(fc.constantFrom(...paths), odd, fc.boolean()).map(([path, value, beside]) => {
    const copy = structuredClone(good) as Record<string, unknown>;
    let holder = copy;
    for (const name of path.slice(0, -1)) holder = holder[name] as Record<string, unknown>;
    holder[beside ? 'surprise' : path.at(-1)!] = value;
    return copy;
  });
}

const expected = [200, 201, 202, 400, 404, 409, 413, 422];

async function check(method: 'GET' | 'POST' | 'PATCH', url: string, body?: unknown): Promise<void> {
  const answer = await http.call(method, url, body);
  expect([url, body, answer.status]).toEqual([url, body, expected.find((code) => code === answer.status)]);
  expect(answer.headers['x-request-id']).toBeTruthy();
  if (answer.status >= 400)
    expect(answer.body).toMatchObject({ status: answer.status, detail: expect.any(String), code: expect.any(String) });
}

describe('bodies', () => {
  test('of a session', () =>
    fc.assert(
      fc.asyncProperty(
        spoiled({ policy_optimization: sessionRequest, config_body: null, correlation_id: 'c' }),
        (body) => check('POST', '/api/v1/online/sessions', body),
      ),
      { numRuns: runs(60, 150) },
    ));

  test('of an evaluation, flat and wrapped', () =>
    fc.assert(
      fc.asyncProperty(
        fc.oneof(
          spoiled({ ...evaluationRequest, candidate: { session_id: 'x' } }),
          spoiled({ config: evaluationRequest }),
        ),
        (body) => check('POST', '/api/v1/offline/jobs', body),
      ),
      { numRuns: runs(60, 150) },
    ));

  test('of a reward and of a change of state', () =>
    fc.assert(
      fc.asyncProperty(
        spoiled({ reward_info: { score: 1, details: {} }, rollout_id: 'r', correlation_id: 'c', metadata: {} }),
        odd,
        async (reward, state) => {
          await check('POST', `/api/v1/online/sessions/${session}/reward`, reward);
          await check('PATCH', `/api/v1/online/sessions/${session}`, { state });
        },
      ),
      { numRuns: runs(50, 100) },
    ));
});

test('paths and queries', () =>
  fc.assert(
    fc.asyncProperty(
      fc.constantFrom(
        'limit',
        'cursor',
        'state',
        'name',
        'tag',
        'created_after',
        'since_seq',
        'after',
        'correlation_id',
        'x',
      ),
      fc.oneof(
        fc.string({ unit: 'binary' }).filter((text) => !/\p{Surrogate}/u.test(text)),
        fc.constantFrom('\0', '-1', '1e9', '0000-01-01T00:00:00Z'),
      ),
      async (name, value) => {
        const text = encodeURIComponent(value);
        for (const path of [
          `/api/v1/online/sessions?${name}=${text}`,
          `/api/v1/offline/jobs?${name}=${text}`,
          `/api/v1/online/sessions/${session}/events?limit=1&${name}=${text}`,
          `/api/v1/online/sessions/${session}/prompt?${name}=${text}`,
          `/api/v1/online/sessions/${text || 'x'}/results`,
          `/api/v1/online/sessions/${session}/candidates?${name}=${text}`,
          `/api/v1/online/sessions/${session}/candidates/${text || 'x'}`,
          `/api/v1/online/sessions/${session}/candidates/cand_x${text}/seed-evals?${name}=${text}`,
          `/api/v1/offline/jobs/${evaluation}/traces/${text || 'x'}`,
        ]) {
          await check('GET', path);
        }
      },
    ),
    { numRuns: runs(25, 100) },
  ));
