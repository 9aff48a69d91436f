import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import pg from 'pg';
import { pino } from 'pino';
import { DeploymentMeter, type CountedRequest } from '../../../../src/models/routes/deployments/meter.js';
import { readUses } from '../../../../src/kinds/deployment/store/uses.js';
import { connect, type Db } from '../../../../src/platform/db/db.js';
import { readFailures, readPeriods } from '../../../../src/kinds/deployment/store/counters.js';
import { readTotals } from '../../../support/counters.js';
import { createDatabase } from '../../../support/servers/embedded.js';
import { gate } from '../../../support/gate.js';
import { until } from '../../../support/until.js';
import { startTcpProxies, type TcpProxies } from '../../../support/servers/tcp-proxies.js';

// Invariants: every request is counted once despite losses on the way to the database; `count`
// resolves when counted or after its patience; an organization has one write in flight and waits
// for no other.

/** Longer than any test: a resolved `count` did not wait for it. */
const forEver = 600_000;
/** No part of an episode. */
const alone = { answerId: 'chatcmpl-a', correlationId: null };
const ok: CountedRequest = {
  model: 'p/m',
  outcome: 'ok',
  latencyMs: 12,
  promptTokens: 3,
  completionTokens: 2,
  costUsd: 0.25,
};

let url: string;
let db: Db;
let deploymentId: string;
let meters: DeploymentMeter[] = [];
const log = pino({ level: 'silent' });
beforeAll(async () => {
  url = await createDatabase();
  db = connect(url, log, 8);
});
afterAll(() => db.close());
beforeEach(() => {
  deploymentId = `dep_${randomUUID()}`;
});
afterEach(async () => {
  jest.restoreAllMocks();
  await Promise.all(meters.map((meter) => meter.close()));
  meters = [];
});

function meterOn(on: Pick<Db, 'orgTogether'>, patienceMs = forEver): DeploymentMeter {
  const meter = new DeploymentMeter({ db: on, log, patienceMs });
  meters.push(meter);
  return meter;
}

const read = (id = deploymentId, orgId = 'default') => db.org(orgId, (tx) => readTotals(tx, id));
const requests = async () => (await read()).requests;
const counters = () =>
  db.org('default', (tx) =>
    tx.query(`select 1 from deployment_counters where deployment_id = $1 and width = 'all'`, [deploymentId]),
  );
const times = <T>(n: number, make: (n: number) => T): T[] => Array.from({ length: n }, (_, at) => make(at));

/** The database, with its number of writes and the highest concurrency of an organization. */
function watched() {
  const seen = { writes: 0, atOnce: 0 };
  const underWay = new Map<string, number>();
  const orgTogether: Db['orgTogether'] = async (orgId, work) => {
    seen.writes += 1;
    underWay.set(orgId, (underWay.get(orgId) ?? 0) + 1);
    seen.atOnce = Math.max(seen.atOnce, underWay.get(orgId)!);
    try {
      return await db.orgTogether(orgId, work);
    } finally {
      underWay.set(orgId, underWay.get(orgId)! - 1);
    }
  };
  return { orgTogether, seen };
}

test('stores each counted request under its outcome', async () => {
  const meter = meterOn(db);
  const count = (request: Partial<CountedRequest>) =>
    meter.count({ orgId: 'default', keyId: null, deploymentId, ...alone }, { ...ok, ...request });
  const stands = async () => {
    const { latencies, errorCodes: _codes, models, ...sums } = await read();
    expect(models).toEqual({ 'p/m': { tries: sums.requests, failed: sums.errors } });
    return { ...sums, answered: Object.values(latencies).reduce((left, right) => left + right, 0) };
  };
  await count({});
  const first = {
    requests: 1,
    errors: 0,
    aborted: 0,
    promptTokens: 3,
    completionTokens: 2,
    costUsd: 0.25,
    costSquares: 0.0625,
  };
  expect(await stands()).toEqual({ ...first, withoutCost: 0, answered: 1 });
  await count({ outcome: 'error', promptTokens: null, completionTokens: null, costUsd: 0 });
  await count({ outcome: 'aborted', promptTokens: 1, completionTokens: null, costUsd: null });
  const sums = {
    requests: 3,
    errors: 1,
    aborted: 1,
    promptTokens: 4,
    completionTokens: 2,
    costUsd: 0.25,
    costSquares: 0.0625,
  };
  expect(await stands()).toEqual({ ...sums, withoutCost: 1, answered: 1 });
});

test('counts 1,000 requests of two processes once, in few sequential statements', async () => {
  const { seen, orgTogether } = watched();
  const processes = [meterOn({ orgTogether }), meterOn(db)];
  const other = `dep_${randomUUID()}`;
  await Promise.all(
    times(100, async (caller) => {
      for (const n of times(10, (n) => n)) {
        const id = n % 5 === 0 ? other : deploymentId;
        await processes[caller % 2]!.count(
          { orgId: 'default', keyId: null, deploymentId: id, ...alone },
          { ...ok, latencyMs: 1 + n },
        );
      }
    }),
  );
  expect(await read()).toMatchObject({ requests: 800, promptTokens: 2_400, completionTokens: 1_600, costUsd: 200 });
  expect(Object.values((await read()).latencies)).toEqual(times(8, () => 100));
  expect((await read(other)).requests).toBe(200);
  expect(await counters()).toHaveLength(2);
  expect(seen.atOnce).toBe(1);
  expect(seen.writes).toBeLessThan(100);
});

test('includes counts during a write in the next write and waits for it', async () => {
  const answers = [gate(), gate()];
  let sent = 0;
  const orgTogether: Db['orgTogether'] = async (orgId, work) => {
    const answer = answers[sent++]!;
    const result = await db.orgTogether(orgId, work);
    await answer.opened;
    return result;
  };
  const meter = meterOn({ orgTogether });
  const first = meter.count({ orgId: 'default', keyId: null, deploymentId, ...alone }, ok);
  await until('the first write is in the database', async () => (await requests()) === 1);
  let isCounted = false;
  const second = meter
    .count({ orgId: 'default', keyId: null, deploymentId, ...alone }, ok)
    .then(() => (isCounted = true));
  answers[0]!.open();
  await first;
  await until('the second write is in the database', async () => (await requests()) === 2, 10);
  expect(isCounted).toBe(false);
  answers[1]!.open();
  await second;
});

test('a stalled write of an organization delays no other organization', async () => {
  const meter = meterOn(db);
  const held = { orgId: 'default', keyId: null, deploymentId, ...alone };
  await meter.count(held, ok);
  const [locked, release] = [gate(), gate()];
  const lock = db.org('default', async (tx) => {
    await tx.query('select 1 from deployment_counters where deployment_id = $1 for update', [deploymentId]);
    locked.open();
    await release.opened;
  });
  await locked.opened;
  const waiting = meter.count(held, ok);
  const free = `dep_${randomUUID()}`;
  await meter.count({ orgId: 'another', keyId: null, deploymentId: free, ...alone }, ok);
  expect((await read(free, 'another')).requests).toBe(1);
  expect(await requests()).toBe(1);
  release.open();
  await Promise.all([lock, waiting]);
  expect(await requests()).toBe(2);
});

describe('without the database', () => {
  let proxies: TcpProxies<'db'>;
  let proxied: Db;
  beforeEach(async () => {
    const direct = new URL(url);
    proxies = await startTcpProxies({ db: direct.host });
    direct.host = proxies.addresses.db;
    proxied = connect(direct.href, log, 2);
  });
  afterEach(async () => {
    await proxies.close();
    await proxied.close();
  });

  test('nothing is lost or doubled, in any order of a write’s parts, and every caller resolves', async () => {
    const meter = meterOn(proxied, 100);
    let made = 0;
    const count = async (n: number) => {
      made += n;
      await Promise.all(times(n, () => meter.count({ orgId: 'default', keyId: null, deploymentId, ...alone }, ok)));
    };
    const getThrough = () =>
      until('a write gets through', async () => {
        await count(1);
        return (await requests()) === made;
      });
    // Whether a write succeeded although its answer was lost.
    const outcomes = new Set<boolean>();
    await getThrough();
    for (const piece of [1, 2, 3]) {
      for (const through of [true, false]) {
        let isCut = false;
        void proxies.cutAt('db', piece, through).then(() => (isCut = true));
        let before = 0;
        do {
          before = made;
          await count(5);
        } while (!isCut);
        outcomes.add((await requests()) > before);
        await count(1);
        await proxies.mend();
        await getThrough();
      }
    }
    expect(outcomes).toEqual(new Set([true, false]));
    expect(await read()).toMatchObject({ requests: made, promptTokens: made * 3 });
    expect(await counters()).toHaveLength(1);
  });

  test('retries without another request', async () => {
    const meter = meterOn(proxied, 100);
    await meter.count({ orgId: 'default', keyId: null, deploymentId, ...alone }, ok);
    await until('the first is written', async () => (await requests()) === 1);
    proxies.cut();
    await meter.count({ orgId: 'default', keyId: null, deploymentId, ...alone }, ok);
    expect(await requests()).toBe(1);
    await proxies.mend();
    await until('it is counted', async () => (await requests()) === 2);
  });

  test('close logs counts that it cannot write in time', async () => {
    const lines: { level: number; requests?: number }[] = [];
    const log = pino({}, { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[number]) });
    const meter = new DeploymentMeter({ db: proxied, log: log, patienceMs: 100 });
    await meter.count({ orgId: 'default', keyId: null, deploymentId, ...alone }, ok);
    await until('the first is written', async () => (await requests()) === 1);
    proxies.cut();
    await meter.count({ orgId: 'default', keyId: null, deploymentId, ...alone }, ok);
    await meter.close();
    expect(lines).toMatchObject([{ level: 50, requests: 1 }]);
    await proxies.close();
    await until('nothing is tried any more', () => lines.length === 2);
    expect(lines[1]).toMatchObject({ level: 50, org_id: 'default' });
    expect(await requests()).toBe(1);
  });
});

const rename = (from: string, to: string) => async () => {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await admin.query(`alter table ${from} rename to ${to}`);
  await admin.end();
};

test('writes what it counts of a request in one transaction', async () => {
  const [away, back] = [rename('deployment_requests', 'mislaid'), rename('mislaid', 'deployment_requests')];
  const meter = meterOn(db, 200);
  const texts = { provider: 'p', model: 'm', request: '{}', answer: '{}' };
  const subject = `deployment ${deploymentId}`;
  const counted = async () => [
    await requests(),
    (await db.org('default', (tx) => readUses(tx, 'default', [subject])))[0]!.usd,
  ];
  await away();
  await meter.count({ orgId: 'default', keyId: null, deploymentId, ...alone, limited: [subject] }, { ...ok, texts });
  expect(await counted()).toEqual([0, 0]);
  await back();
  await meter.close();
  expect(await counted()).toEqual([1, ok.costUsd]);
});

test('writes refused counts with the next write or at the end', async () => {
  const [away, back] = [rename('deployment_counters', 'mislaid'), rename('mislaid', 'deployment_counters')];
  const meter = meterOn(db, 200);
  const deployment = { orgId: 'default', keyId: null, deploymentId, ...alone };
  const later = { orgId: 'default', keyId: null, deploymentId: `dep_${randomUUID()}`, ...alone };
  await away();
  await meter.count(deployment, ok);
  await back();
  await meter.count(later, ok);
  expect(await requests()).toBe(1);
  await away();
  const failure = { status: 502, code: 'upstream_error', message: 'No answer.' };
  await meter.count({ ...deployment, correlationId: 'chat' }, ok);
  await meter.count(deployment, { ...ok, outcome: 'error', failure });
  await back();
  await meter.close();
  expect([await requests(), (await read(later.deploymentId)).requests]).toEqual([3, 1]);
  const { failures, episodes } = await db.org('default', async (tx) => ({
    failures: await readFailures(tx, deploymentId),
    episodes: await tx.query('select 1 from episode_answers where deployment_id = $1', [deploymentId]),
  }));
  expect([failures, episodes]).toMatchObject([[failure], [{}]]);
});

test('counts each request in one minute and one hour, whatever the clock does', async () => {
  const base = Date.parse('2026-03-04T10:30:00Z');
  const jumps = fc.array(fc.record({ seconds: fc.integer({ min: -7_200, max: 7_200 }), process: fc.nat(1) }));
  await fc.assert(
    fc.asyncProperty(jumps, async (given) => {
      const id = `dep_${randomUUID()}`;
      const processes = [meterOn(db), meterOn(db)];
      const expected = { minute: new Map<number, number>(), hour: new Map<number, number>() };
      for (const { seconds, process } of given) {
        const at = base + seconds * 1_000;
        const clock = jest.spyOn(Date, 'now').mockReturnValue(at);
        const counted = processes[process]!.count({ orgId: 'default', keyId: null, deploymentId: id, ...alone }, ok);
        clock.mockRestore();
        await counted;
        for (const [width, ms] of [
          ['minute', 60_000],
          ['hour', 3_600_000],
        ] as const) {
          const start = Math.floor(at / ms) * ms;
          expected[width].set(start, (expected[width].get(start) ?? 0) + 1);
        }
      }
      const range = { from: new Date(base - 12_000_000), to: new Date(base + 12_000_000) };
      for (const width of ['minute', 'hour'] as const) {
        const { sums } = await db.org('default', (tx) => readPeriods(tx, [id], width, range));
        const counts = sums.map(({ start, requests }): [number, number] => [+start, requests]);
        expect(counts).toEqual([...expected[width]].toSorted(([left], [right]) => left - right));
      }
      expect((await read(id)).requests).toBe(given.length);
    }),
    { numRuns: 12 },
  );
});

test('close writes pending counts', async () => {
  const meter = meterOn(db);
  const counts = times(10, () => meter.count({ orgId: 'default', keyId: null, deploymentId, ...alone }, ok));
  await meter.close();
  expect(await requests()).toBe(10);
  await Promise.all(counts);
});

test('only a long idle deployment among many starts a new counter', async () => {
  const meter = meterOn(db);
  const real = Date.now.bind(Date);
  const busy = deploymentId;
  const quiet = `dep_${randomUUID()}`;
  const count = (id: string) => meter.count({ orgId: 'default', keyId: null, deploymentId: id, ...alone }, ok);
  await Promise.all([count(busy), count(quiet)]);
  await Promise.all(times(1_000, (n) => count(`${quiet}_${n}`)));
  await count(busy);
  const of = async (id: string) => {
    const [row] = await db.org('default', (tx) =>
      tx.query<{ rows: number; requests: number }>(
        `select count(*) as rows, sum(requests)::int as requests from deployment_counters where deployment_id = $1 and width = 'all'`,
        [id],
      ),
    );
    return row;
  };
  expect(await of(busy)).toEqual({ rows: 1, requests: 2 });
  const later = (minutes: number) => jest.spyOn(Date, 'now').mockImplementation(() => real() + minutes * 60_000);
  later(6);
  await count(busy);
  later(11);
  await count(`${quiet}_new`);
  await Promise.all([count(busy), count(quiet)]);
  expect(await of(busy)).toEqual({ rows: 1, requests: 4 });
  expect(await of(quiet)).toEqual({ rows: 2, requests: 2 });
});
