import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { pino, type Logger } from 'pino';
import { createProviders } from '../../../../src/models/client/providers.js';
import { createBytesInFlight } from '../../../../src/models/routes/bytes-in-flight.js';
import { registerDeploymentInference } from '../../../../src/models/routes/deployments/routes.js';
import { connect, type Db } from '../../../../src/platform/db/db.js';
import { buildApp } from '../../../../src/platform/http/app.js';
import { deploymentsOfFile, question, saying } from '../../../kinds/deployment/routes/support.js';
import { gate } from '../../../support/gate.js';
import { deployments as base } from '../../../support/jobs-over-http.js';
import { runs } from '../../../support/runs.js';
import { until } from '../../../support/until.js';

// Limits of deployments at two API servers that share nothing but Postgres.

const it = deploymentsOfFile();
const log = pino({ level: 'silent' });
const tokens = { prompt_tokens: 60, completion_tokens: 40, total_tokens: 100 };
const answerUsd = 60 * 0.15e-6 + 40 * 0.6e-6;
let db: Db;
let otherUrl: string;
let close: () => Promise<void>;
beforeAll(async () => {
  db = connect(it.http.databaseUrl, log, 4);
  const providers = createProviders({ OPENAI_BASE_URL: it.model.url, OPENAI_API_KEY: 'sk-1' });
  const other = await buildApp({
    ...it.http.deps,
    db,
    registerInference: (app) =>
      registerDeploymentInference(app, {
        db,
        notifications: it.http.deps.notifications,
        providers,
        tracing: null,
        log: app.log as Logger,
        bytes: createBytesInFlight(64 * 1024 * 1024),
        secretKey: it.http.deps.secretKey,
      }),
  });
  otherUrl = await other.listen({ port: 0, host: '127.0.0.1' });
  close = async () => {
    await other.close();
    await providers.close();
    await db.close();
  };
});
afterAll(() => close());
beforeEach(() => it.model.reply(() => ({ usage: tokens })));

interface Asked {
  key?: string;
  tag?: string;
  signal?: AbortSignal;
}
/** Asks one of the servers. */
function ask(at: number, ref: string, { key = it.http.key, tag, signal }: Asked = {}): Promise<Response> {
  return fetch(`${at % 2 === 0 ? it.url : otherUrl}${base}/${ref}/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${key}`,
      ...(tag !== undefined && { 'x-ratchet-tag': tag }),
    },
    body: JSON.stringify(question),
    signal: signal ?? null,
  });
}
const statusOf = async (...asked: Parameters<typeof ask>) => {
  const answer = await ask(...asked);
  await answer.text();
  return answer.status;
};
const codeOf = async (answer: Response) => ((await answer.json()) as { error: { code: string } }).error.code;
const newKey = async () =>
  (await it.http.call('POST', '/api/v1/admin/keys', { name: 'a', scopes: ['infer'] })).body as {
    key: string;
    key_id: string;
  };

let count = 0;
const nextName = () => `limited-${(count += 1)}`;
/** Deploys with limits under a new name. */
async function deployed(limits: object, name = nextName()): Promise<string> {
  const { status, body } = await it.create({ name, source: saying('Own.'), limits });
  expect([status, body.errors]).toEqual([201, undefined]);
  return name;
}
const change = (name: string, body: object) => it.http.call('PATCH', `${base}/${name}`, body);
const statsOf = async (name: string) => (await it.http.call('GET', `${base}/${name}/stats`)).body;
const query = (text: string) => it.http.db.org('default', (tx) => tx.query(text));

/** Runs `work` until a run begins and ends in one minute of Postgres. */
async function inOneMinute<Result>(work: () => Promise<Result>): Promise<Result> {
  const minute = async () => (await query('select extract(minute from clock_timestamp())::int as m'))[0]!['m'];
  for (;;) {
    const before: unknown = await minute();
    const result = await work();
    if ((await minute()) === before) return result;
  }
}
const countOf = <Item>(items: readonly Item[], item: Item) => items.filter((each) => each === item).length;

describe('settings', () => {
  const limits = { total: { requests_per_minute: 100, spend_usd_per_day: 0.5 }, per_tag: { calls_in_flight: 2 } };
  const none = { requests_per_minute: null, tokens_per_minute: null, calls_in_flight: null, spend_usd_per_day: null };
  const shown = { total: { ...none, ...limits.total }, per_key: null, per_tag: { ...none, ...limits.per_tag } };
  const limitsOf = async (ref: string) => (await it.status(ref)).body.limits;

  test('are shown, go on in the next version, and are changed or removed at any time', async () => {
    const name = await deployed(limits);
    expect(await limitsOf(name)).toEqual(shown);
    const id = await it.deploy(name);
    expect(await limitsOf(id)).toEqual(shown);
    expect((await change(name, { limits: { per_key: { tokens_per_minute: 5 }, total: null } })).status).toBe(200);
    const changed = { ...shown, total: null, per_key: { ...none, tokens_per_minute: 5 } };
    expect(await limitsOf(name)).toEqual(changed);
    await change(name, { limits: null });
    expect(await limitsOf(name)).toBeNull();
  });

  test.each([
    [{ total: { requests_per_minute: 0 } }, '/limits/total/requests_per_minute'],
    [{ per_key: { tokens_per_minute: 1.5 } }, '/limits/per_key/tokens_per_minute'],
    [{ per_tag: { calls_in_flight: '1' } }, '/limits/per_tag/calls_in_flight'],
    [{ total: { spend_usd_per_day: -1 } }, '/limits/total/spend_usd_per_day'],
    [{ total: { open_jobs: 1 } }, '/limits/total/open_jobs'],
    [{ by: 'key' }, '/limits/by'],
    [[], '/limits'],
  ])('%j is refused', async (given, pointer) => {
    const { status, body } = await it.create({ name: nextName(), source: saying('Own.'), limits: given });
    expect([status, body.errors.map((error: { pointer: string }) => error.pointer)]).toEqual([422, [pointer]]);
  });

  test('a tag is 1 to 64 visible ASCII characters, also without limits', async () => {
    const name = await it.deploy(nextName());
    for (const tag of ['with space', 'x'.repeat(65), 'é']) {
      const answer = await ask(0, name, { tag });
      expect([answer.status, await codeOf(answer)]).toEqual([400, 'invalid_request']);
    }
    expect(it.model.requests).toHaveLength(0);
    expect(await statusOf(0, name, { tag: '!'.repeat(64) })).toBe(200);
  });
});

describe('requests a minute', () => {
  test('over two servers, by name and by id, and over versions: never more, and all of them', async () => {
    const asked = fc.array(fc.tuple(fc.nat(1), fc.constantFrom('name', 'id', 'next')), { minLength: 8, maxLength: 24 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 8 }), asked, async (limit, all) => {
        const codes = await inOneMinute(async () => {
          const name = await deployed({ total: { requests_per_minute: limit } });
          const id = (await it.status(name)).body.id as string;
          const next = await it.deploy(name);
          const refs = { name, id, next };
          return Promise.all(all.map(([at, ref]) => statusOf(at, refs[ref as 'name'])));
        });
        expect([countOf(codes, 200), countOf(codes, 429)]).toEqual(
          [limit, all.length - limit].map((n) => Math.max(0, n)),
        );
      }),
      { numRuns: runs(4, 30), endOnFailure: true },
    );
  }, 120_000);

  test('of each key and of each tag on their own, and of all together', async () => {
    const other = await newKey();
    const codes = await inOneMinute(async () => {
      const byKey = await deployed({ per_key: { requests_per_minute: 1 } });
      const byTag = await deployed({ per_tag: { requests_per_minute: 1 }, total: { requests_per_minute: 4 } });
      const statuses: number[] = [];
      for (const [at, name, asked] of [
        [0, byKey, {}],
        [1, byKey, { tag: 'a' }],
        [1, byKey, { key: other.key }],
        [0, byTag, {}],
        [1, byTag, {}],
        [0, byTag, { tag: 'a' }],
        [0, byTag, { tag: 'b' }],
        [1, byTag, { tag: 'b', key: other.key }],
        [1, byTag, { tag: 'c' }],
        [1, byTag, { tag: 'd' }],
      ] as const)
        statuses.push(await statusOf(at, name, asked));
      return statuses;
    });
    expect(codes).toEqual([200, 429, 200, 200, 429, 200, 200, 429, 200, 429]);
  });

  test('a refusal says which, whose and when; it is no request of the statistics and reaches no model', async () => {
    const [name, admitted, refused] = await inOneMinute(async () => {
      it.model.requests.length = 0;
      const name = await deployed({ per_tag: { requests_per_minute: 1 } });
      return [name, await ask(0, name, { tag: 'acme' }), await ask(1, name, { tag: 'acme' })] as const;
    });
    expect(admitted.headers.get('ratelimit-policy')).toBe('"deployment-tag";q=1;w=60');
    expect(admitted.headers.get('ratelimit')).toMatch(/^"deployment-tag";r=0;t=\d+$/);
    const { error } = (await refused.json()) as { error: { message: string } };
    expect([refused.status, error]).toEqual([
      429,
      expect.objectContaining({ code: 'rate_limit_exceeded', type: 'rate_limit_error' }),
    ]);
    expect(error.message).toMatch(
      new RegExp(
        `^Deployment "${name}" allows 1 requests a minute to each tag, and "acme" has had them; retry in \\d+ s\\.$`,
      ),
    );
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(refused.headers.get('ratelimit')).toBe(`"deployment-tag";r=0;t=${seconds}`);
    expect(it.model.requests).toHaveLength(1);
    expect(await statsOf(name)).toMatchObject({ requests: 1, errors: 0, aborted: 0 });
  });

  test('stand behind those of the key in the fields of an answer', async () => {
    const { key, key_id } = await newKey();
    await it.http.call('PUT', `/api/v1/admin/keys/${key_id}/limits`, { requests_per_minute: 9, calls_in_flight: 9 });
    const name = await deployed({ total: { requests_per_minute: 8, calls_in_flight: 7, tokens_per_minute: 6 } });
    const policy = (await ask(0, name, { key })).headers.get('ratelimit-policy');
    expect(policy!.split(', ')).toEqual([
      '"key";q=9;w=60',
      '"key-calls";q=9;qu="concurrent-requests"',
      '"deployment";q=8;w=60',
      '"deployment-calls";q=7;qu="concurrent-requests"',
      '"deployment-tokens";q=6;w=60;qu="tokens"',
    ]);
  });

  test('a new minute begins anew, and a new limit holds at once', async () => {
    const name = await deployed({ total: { requests_per_minute: 1 } });
    const [first, refused] = await inOneMinute(async () => {
      await query(`update request_windows set starts_at = starts_at - interval '1 minute'`);
      await change(name, { limits: { total: { requests_per_minute: 1 } } });
      const { now } = performance;
      const clock = jest.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + 60_000);
      try {
        return [await statusOf(0, name), await statusOf(0, name)];
      } finally {
        clock.mockRestore();
      }
    });
    expect([first, refused]).toEqual([200, 429]);
    await change(name, { limits: { total: { requests_per_minute: 3 } } });
    expect(await statusOf(0, name)).toBe(200);
  });
});

describe('calls in flight', () => {
  test('over two servers: never more at once; a refused call of one tag takes nothing from the total', async () => {
    const asked = fc.array(fc.tuple(fc.nat(1), fc.constantFrom('a', 'b', 'c')), { minLength: 6, maxLength: 16 });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 3 }),
        asked,
        async (total, each, all) => {
          const name = await deployed({ total: { calls_in_flight: total }, per_tag: { calls_in_flight: each } });
          const held = gate();
          let inFlight = 0;
          let most = 0;
          it.model.reply(async () => {
            most = Math.max(most, (inFlight += 1));
            await held.opened;
            inFlight -= 1;
            return {};
          });
          let refused = 0;
          const calls = all.map(async ([at, tag]) => {
            if ((await statusOf(at, name, { tag })) === 429) refused += 1;
          });
          await until('the rest is refused', () => inFlight + refused === all.length);
          held.open();
          await Promise.all(calls);
          expect(most).toBeLessThanOrEqual(total);
          expect(most).toBeGreaterThan(0);
          // All slots come back.
          const free = ['a', 'b', 'c'].slice(0, total);
          it.model.reply(() => ({}));
          await until('there is room for each', async () =>
            (await Promise.all(free.map((tag, at) => statusOf(at, name, { tag })))).every((status) => status === 200),
          );
        },
      ),
      { numRuns: runs(4, 30), endOnFailure: true },
    );
  }, 120_000);

  test('a caller that leaves, and a process that is killed, give their slots back', async () => {
    const name = await deployed({ per_key: { calls_in_flight: 1 } });
    const held = gate();
    it.model.reply(() => held.opened.then(() => ({})));
    const leaving = new AbortController();
    const left = ask(0, name, { signal: leaving.signal }).catch(() => null);
    await until('the call is in flight', () => it.model.requests.length === 1);
    const refused = await ask(1, name);
    expect([refused.status, refused.headers.get('retry-after'), await codeOf(refused)]).toEqual([
      429,
      '1',
      'rate_limit_exceeded',
    ]);
    leaving.abort();
    await left;
    it.model.reply(() => ({}));
    await until('the slot is free', async () => (await statusOf(1, name)) === 200);
    held.open();
    await until('no process has it', async () => (await query('select from call_slots where slots > 0')).length === 0);
    const killed = `insert into call_slots (org_id, subject, holder, slots, expires_at)
      select 'default', subject, gen_random_uuid(), 1, clock_timestamp() + interval '15 seconds' from call_slots
       where subject like 'deployment-key ${name} %' limit 1`;
    await query(killed);
    expect(await statusOf(0, name)).toBe(429);
    await query(`update call_slots set expires_at = expires_at - interval '15 seconds'`);
    await until('the slot has expired', async () => (await statusOf(0, name)) === 200);
  });
});

test('a refused request takes nothing from the other limits', async () => {
  const statuses = await inOneMinute(async () => {
    const [ofCalls, ofRequests] = [{ calls_in_flight: 1 }, { requests_per_minute: 2 }];
    const name = await deployed({ total: ofRequests, per_key: ofCalls });
    const held = gate();
    it.model.reply(() => held.opened.then(() => ({})));
    it.model.requests.length = 0;
    const first = statusOf(0, name);
    await until('the call is in flight', () => it.model.requests.length === 1);
    const refused = await statusOf(0, name);
    held.open();
    await first;
    const second = await until('the slot is free', async () => (await statusOf(0, name)) === 200);
    // The minute is used up: no slot is taken.
    const third = await statusOf(0, name);
    await change(name, { limits: { total: null } });
    return [refused, second, third, await statusOf(0, name)];
  });
  expect(statuses).toEqual([429, true, 429, 200]);
});

describe('tokens a minute', () => {
  test('are counted after an answer, by both servers; then requests wait for the next minute', async () => {
    const [name, statuses, refused] = await inOneMinute(async () => {
      const name = await deployed({ per_tag: { tokens_per_minute: 150 } });
      const statuses = [await statusOf(0, name), await statusOf(1, name), await statusOf(0, name, { tag: 'b' })];
      return [name, statuses, await ask(0, name)] as const;
    });
    expect(statuses).toEqual([200, 200, 200]);
    expect([refused.status, await codeOf(refused)]).toEqual([429, 'rate_limit_exceeded']);
    expect(refused.headers.get('ratelimit')).toMatch(/^"deployment-tag-tokens";r=0;t=\d+$/);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect(await statsOf(name)).toMatchObject({ requests: 3 });
    await query(`update deployment_uses set minute = minute - interval '1 minute'`);
    await until('the next minute is known', async () => (await statusOf(0, name)) === 200);
  });

  test('a clock of Postgres that goes back begins no minute anew', async () => {
    const name = await deployed({ total: { tokens_per_minute: 150 } });
    await statusOf(0, name);
    await query(`update deployment_uses set minute = minute + interval '2 minutes' where subject like '% ${name}'`);
    expect(await statusOf(1, name)).toBe(200);
    await statusOf(0, name);
    const refused = await ask(1, name);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(60);
  });
});

describe('dollars a day', () => {
  test('count over both servers and all tries; beyond them nothing is sent until the next UTC day', async () => {
    const name = await deployed({ per_key: { spend_usd_per_day: 1.5 * answerUsd } });
    expect([await statusOf(0, name), await statusOf(1, name)]).toEqual([200, 200]);
    it.model.requests.length = 0;
    for (const at of [0, 1]) {
      const refused = await ask(at, name);
      expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([429, 'false']);
      expect(await codeOf(refused)).toBe('spend_quota_exceeded');
      const seconds = Number(refused.headers.get('retry-after'));
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(86_400);
    }
    expect(it.model.requests).toHaveLength(0);
    expect(await statusOf(0, name, { key: (await newKey()).key })).toBe(200);
    await query(`update deployment_uses set day = day - 1`);
    await until('the next day is known', async () => (await statusOf(0, name)) === 200);
  });

  test('concurrent calls exceed it by what is in flight at most', async () => {
    const name = await deployed({ total: { spend_usd_per_day: 4.5 * answerUsd } });
    const inFlight = 3;
    const callers = Array.from({ length: inFlight }, async (_, at) => {
      for (;;) if ((await statusOf(at, name)) !== 200) return;
    });
    await Promise.all(callers);
    expect(it.model.requests.length).toBeGreaterThanOrEqual(5);
    expect(it.model.requests.length).toBeLessThanOrEqual(5 + inFlight - 1);
  });

  test('0 sends nothing; a model without a known price is refused', async () => {
    const name = await deployed({ total: { spend_usd_per_day: 0 } });
    expect(await statusOf(0, name)).toBe(429);
    const policy = { provider: 'openai', model: 'unknown' };
    const unpriced = nextName();
    await it.create({
      name: unpriced,
      source: saying('Own.'),
      limits: { total: { spend_usd_per_day: 1 } },
      fallbacks: { models: [policy] },
    });
    const refused = await ask(0, unpriced);
    expect([refused.status, await codeOf(refused)]).toEqual([400, 'cost_not_bounded']);
    await change(unpriced, { fallbacks: null });
    expect(await statusOf(0, unpriced)).toBe(200);
    expect(it.model.requests).toHaveLength(1);
  });
});

describe('messages to Postgres before a call', () => {
  /** Those of a server until its model is asked. */
  async function messages(name: string, tag: string): Promise<number> {
    const batches = jest.spyOn(db, 'orgBatch');
    const apart = jest.spyOn(db, 'orgApart');
    let before = -1;
    it.model.reply(() => {
      before = batches.mock.calls.length + apart.mock.calls.length;
      return {};
    });
    expect(await statusOf(1, name, { tag })).toBe(200);
    batches.mockRestore();
    apart.mockRestore();
    return before;
  }

  test('one without limits; with all of them one beside it, and one more for a new tag', async () => {
    const plain = await it.deploy(nextName());
    const set = { requests_per_minute: 90, tokens_per_minute: 900_000, calls_in_flight: 9, spend_usd_per_day: 9 };
    const limited = await deployed({ total: set, per_key: set, per_tag: set });
    for (const name of [plain, limited]) await statusOf(1, name);
    // The deployment of the name is read anew for each request.
    expect([await messages(plain, 'a'), await messages(limited, 'new')]).toEqual([1, 3]);
    await until('its portions are at hand', async () => (await messages(limited, 'new')) === 2);
  });
});
