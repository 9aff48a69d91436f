import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { pino } from 'pino';
import type { ActivityDeps } from '../../../activities/deps.js';
import { createMetrics } from '../../../src/service/metrics.js';
import { mergeMetrics } from '../../../src/service/metrics/merge.js';
import { readSearch } from '../../../src/jobs/store/step-log.js';
import { gate } from '../../support/gate.js';
import { until } from '../../support/until.js';
import { propose } from '../../support/worlds/rules.js';
import { attemptWorldOfFile, isDone, startSearch } from './attempts.js';

// Invariants of an attempt that ends early: the next one goes on from its record, so the path of
// the search is that of an attempt that was not cut, and nothing on record is bought again.

const on = attemptWorldOfFile();

/** A search and its records. */
async function begin() {
  const search = await startSearch(on, { generations: 4 });
  const { id } = search;
  const recorded = async () => {
    const { search } = (await on.http.db.org('default', (tx) => readSearch(tx, id)))!;
    return { state: search.state, steps: search.steps, next: search.next().kind };
  };
  const query = (text: string) => on.http.db.org('default', (tx) => tx.query<Record<string, unknown>>(text, [id]));
  return { ...search, recorded, query };
}

/** Takes the lease away, as another attempt does. */
const takeLease = `update job_controls set lease_token = lease_token + 1, lease_owner = null where job_id = $1`;

/** A database that keeps the inputs that are in a snapshot. */
const keepingInputs = () => {
  const orgHot: typeof on.http.db.orgHot = (orgId, work) =>
    on.http.db.orgHot(orgId, (tx, commit) => {
      const query: typeof tx.query = (text, values, name) =>
        name === 'delete_search_inputs' ? Promise.resolve([]) : tx.query(text, values, name);
      return work(Object.assign(Object.create(tx) as typeof tx, { query }), commit);
    });
  return Object.assign(Object.create(on.http.db) as typeof on.http.db, { orgHot });
};

/** The search without an interruption. */
async function uncut(with_: Partial<ActivityDeps> = {}) {
  const search = await begin();
  const result = await search.attempt(with_);
  expect(isDone(result)).toBe(true);
  return { ...search, result };
}

test('a repeated attempt ends in the same state, and buys nothing', async () => {
  const { attempt, calls, result, recorded, prepare } = await uncut();
  const [bought, asked] = [calls().length, on.world.model.requests.length];
  const before = await recorded();
  // Also where the job is prepared again.
  await prepare();
  expect(await attempt()).toEqual(result);
  expect(await recorded()).toEqual(before);
  expect([calls().length, on.world.model.requests.length]).toEqual([bought, asked]);
});

test('logs one line for each generation when it is recorded, and counts the proposals', async () => {
  const { attempt, query } = await begin();
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[0]) });
  const metrics = createMetrics();
  const recorded = () =>
    query(
      `select 'generation complete' as msg, job_id, data->'generation' as generation, data->'best_reward' as best_reward,
              data->'rollouts_completed' as rollouts, data->'cost_usd' as cost_usd
         from events where job_id = $1 and type = 'generation_complete' order by seq`,
    );
  await attempt({ log, metrics });
  expect(lines.length).toBeGreaterThan(1);
  expect(lines).toMatchObject(await recorded());
  expect(lines.at(-1)!['candidates']).toBeGreaterThan(1);
  expect(await mergeMetrics([metrics.values])).toMatch(/ratchet_proposals_total{outcome="proposed"} [1-9]/);
  await attempt({ log, metrics });
  expect(lines).toMatchObject(await recorded());
});

test('a proposal that failed stays failed in the next attempt', async () => {
  const from = on.world.model.requests.length;
  on.world.model.reply((request) =>
    on.world.model.requests.length === from + 1 ? { status: 400 } : { text: propose(request) },
  );
  const { attempt, result } = await uncut();
  expect(await attempt()).toEqual(result);
});

test('a merge, which needs neither rows nor a model, has no transaction of its own', async () => {
  const { query } = await uncut({ db: keepingInputs() });
  const steps = await query(
    `select xmin::text as transaction, input->>'kind' = 'proposals'
            and not jsonb_path_exists(input::jsonb, '$.answers[*] ? (!exists(@.parents))') as merged
       from search_inputs where job_id = $1 order by step`,
  );
  const merged = steps.flatMap((step, index) => (step['merged'] ? [[step, steps[index - 1]]] : []));
  expect(merged.length).toBeGreaterThan(0);
  for (const [step, last] of merged) expect(step!['transaction']).toBe(last!['transaction']);
});

describe('while only the proposer works', () => {
  const asked = async () => {
    const search = await begin();
    const held = gate();
    const from = on.world.model.requests.length;
    on.world.model.reply(async (request) => {
      await held.opened;
      return { text: propose(request) };
    });
    const attempt = search.attempt();
    attempt.catch(() => undefined);
    await until('the proposer is asked', () => on.world.model.requests.length > from);
    return { ...search, attempt, held };
  };

  test('keeps the lease', async () => {
    const { attempt, held, query } = await asked();
    await query('update job_controls set lease_expires_at = clock_timestamp() where job_id = $1');
    await until('the lease is renewed', async () => {
      const [row] = await query(
        'select lease_expires_at > clock_timestamp() as held from job_controls where job_id = $1',
      );
      return row!.held === true;
    });
    held.open();
    expect(isDone(await attempt)).toBe(true);
  }, 20_000);

  test('stops asking once another attempt has taken over', async () => {
    const { attempt, held, query } = await asked();
    await query(takeLease);
    await expect(attempt).rejects.toThrow('Another attempt');
    held.open();
  }, 20_000);
});

test('asks the proposer for nothing once the job is paused, also if no news of it came', async () => {
  const whole = await begin();
  let callsBefore: number | undefined;
  on.world.model.reply((request) => {
    callsBefore ??= whole.calls().length;
    return { text: propose(request) };
  });
  await whole.attempt();
  const paused = await begin();
  const asked = on.world.model.requests.length;
  on.world.container.behave((call) => async (_, response) => {
    if (paused.calls().length === callsBefore)
      await paused.query(`update job_controls set control = 'pause' where job_id = $1`);
    await on.world.answer(call)(call, response);
  });
  expect((await paused.attempt()).rest).toEqual({ kind: 'again' });
  // The search asks for right answers before it asks the proposer.
  expect((await paused.recorded()).next).toBe('demos');
  expect([paused.calls().length, on.world.model.requests.length]).toEqual([callsBefore, asked]);
});

test('an answer that would end the search waits for a prompt that a person may have given', async () => {
  const whole = await (await uncut()).recorded();
  const { attempt, query, calls, recorded } = await begin();
  on.world.container.behave((call) => async (_, response) => {
    await query(`select pg_notify('ratchet_control', $1)`);
    await on.world.answer(call)(call, response);
  });
  for (let isWaiting = false; !isWaiting;) {
    const before = await recorded();
    expect(isDone(await attempt())).toBe(false);
    isWaiting = (await recorded()).steps === before.steps;
  }
  const bought = calls().length;
  await attempt();
  expect((await recorded()).state).toEqual(whole.state);
  expect(calls()).toHaveLength(bought);
});

test('the answers of a round and the start of the next one share a transaction', async () => {
  const { query } = await uncut({ db: keepingInputs() });
  const steps = await query(
    `select s.step, bool_or(s.xmin::text = r.xmin::text) as shared
       from search_inputs s,
            jsonb_array_elements(coalesce(s.input::jsonb->'rollouts', s.input::jsonb->'answers')) a
            join rollouts r on r.job_id = $1 and r.ordinal = (a->>'ordinal')::int
      where s.job_id = $1 group by s.step order by s.step`,
  );
  const shared = steps.filter((step) => step['shared']);
  expect(steps.length).toBeGreaterThan(4);
  expect(shared.length / steps.length).toBeGreaterThan(0.5);
});

/** A database that refuses to record steps from the `from`-th on. */
function refusingSteps(from: number) {
  const counted = { tries: 0, refused: 0 };
  const orgHot: typeof on.http.db.orgHot = (orgId, work) =>
    on.http.db.orgHot(orgId, (tx, commit) => {
      const query: typeof tx.query = (text, ...more) => {
        if (text.includes('insert into search_inputs') && (counted.tries += 1) >= from)
          throw new RangeError(`refused ${(counted.refused += 1)}`);
        return tx.query(text, ...more);
      };
      return work(Object.assign(Object.create(tx) as typeof tx, { query }), commit);
    });
  return { counted, db: Object.assign(Object.create(on.http.db) as typeof on.http.db, { orgHot }) };
}

test('a step that can never be recorded fails the job with its first cause', async () => {
  const { attempt } = await begin();
  const { db, counted } = refusingSteps(1);
  // With the outcomes before it, alone, and with the end of the slice.
  await expect(attempt({ db })).rejects.toMatchObject({
    type: 'internal',
    details: [{ message: 'Internal error: refused 2', retryable: false }],
  });
  expect(counted.refused).toBe(3);
});

test('the outcomes before a step that cannot be recorded are on record', async () => {
  const { attempt, calls, query } = await begin();
  const { db, counted } = refusingSteps(5);
  await attempt({ db }).catch(() => undefined);
  expect(counted.refused).toBeGreaterThan(0);
  const bought = calls().length;
  const [row] = await query(`select count(*) as n from rollouts where job_id = $1 and status = 'succeeded'`);
  expect(row!['n']).toBe(bought);
  await query(takeLease);
  expect(isDone(await attempt())).toBe(true);
  const ids = calls().map(({ rolloutId }) => rolloutId);
  expect(new Set(ids).size).toBe(ids.length);
});

test('an attempt that is cut between a claim and its call returns the rollout', async () => {
  const { attempt, calls, query } = await begin();
  const draining = new AbortController();
  let transactions = 0;
  const orgHot: typeof on.http.db.orgHot = async (orgId, work) => {
    const result = await on.http.db.orgHot(orgId, work);
    // The first one takes the lease, the second claims.
    if ((transactions += 1) === 2) draining.abort();
    return result;
  };
  const db = Object.assign(Object.create(on.http.db) as typeof on.http.db, { orgHot });
  await attempt({ db, draining: draining.signal });
  const states = () => query('select distinct status, resent from rollouts where job_id = $1');
  expect([calls().length, await states()]).toEqual([0, [{ status: 'queued', resent: 0 }]]);
  await attempt();
  expect(await states()).toEqual([{ status: 'succeeded', resent: 0 }]);
});

describe('an attempt that is cut at any call of the container', () => {
  let whole: Awaited<ReturnType<typeof uncut>>;
  let end: Awaited<ReturnType<(typeof whole)['recorded']>>;
  beforeAll(async () => {
    on.world.reset();
    whole = await uncut();
    end = await whole.recorded();
  });

  /** Cuts an attempt at the n-th call of a new search, and compares the next one. */
  const cutAt = (ends: 'by a shutdown' | 'by another attempt') =>
    fc.asyncProperty(fc.nat(whole.calls().length - 1), async (n) => {
      on.world.reset();
      const search = await begin();
      const draining = new AbortController();
      on.world.container.behave((call) => async (_, response) => {
        if (search.calls().length === n + 1) {
          if (ends === 'by a shutdown') draining.abort();
          // As after a pause of this process that was longer than the lease.
          else await search.query(takeLease);
        }
        await on.world.answer(call)(call, response);
      });
      const cut = await search.attempt({ draining: draining.signal }).catch(() => null);
      if (ends === 'by another attempt') expect(cut).toBeNull();
      on.world.reset();
      expect(isDone(await search.attempt())).toBe(true);
      expect(await search.recorded()).toEqual(end);
      if (ends === 'by a shutdown') expect(search.calls()).toHaveLength(whole.calls().length);
    });

  test('by a shutdown, goes on without another call', () => fc.assert(cutAt('by a shutdown'), { numRuns: 8 }), 60_000);

  test('by another attempt, writes nothing more', () => fc.assert(cutAt('by another attempt'), { numRuns: 8 }), 60_000);
});
