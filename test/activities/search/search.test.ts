import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import fc from 'fast-check';
import { pino } from 'pino';
import type { ActivityDeps } from '../../../activities/deps.js';
import { prepareActivities } from '../../../activities/jobs/prepare.js';
import { RolloutRunners } from '../../../activities/rollouts/run.js';
import { searchActivity, type RunSearchInput, type RunSearchResult } from '../../../activities/search/search.js';
import { createContainerClient, type ContainerClient } from '../../../src/clients/container/client.js';
import { createMetrics, mergeMetrics } from '../../../src/metrics.js';
import { createProviders } from '../../../src/clients/models/providers.js';
import { algorithmOf } from '../../../src/core/algorithms/index.js';
import { SearchProgress } from '../../../src/core/algorithms/progress.js';
import { createSession, startHttp, type TestHttp } from '../../http/support.js';
import { answers } from '../../support/fakes/container.js';
import { gate } from '../../support/gate.js';
import { until } from '../../support/until.js';
import { propose, startRulesWorld, type RulesWorld } from '../../support/worlds/rules.js';

// Invariants of an attempt that ends early: the next one goes on from its record, so the path of
// the search is that of an attempt that was not cut, and nothing on record is bought again.

let http: TestHttp;
let world: RulesWorld;
let container: ContainerClient;
beforeAll(async () => {
  [http, world] = await Promise.all([startHttp(), startRulesWorld(6)]);
  container = createContainerClient({ egress: { mode: 'dev', allowlist: [] } });
});
afterAll(async () => {
  await container.close();
  await world.close();
  await http.close();
});
afterEach(() => world.reset());

const inActivity = <T>(work: () => Promise<T>): Promise<T> => new MockActivityEnvironment().run(work);

/** A prepared session, and a way to run attempts of its search. */
async function startSearch() {
  const id = await createSession(http, {
    container_url: world.container.url,
    gepa: { population_size: 2, generations: 4, minibatch_size: 2, evaluation: { seeds: [0, 1, 2, 3, 4, 5] } },
    max_concurrent: 4,
    rng_seed: 7,
  });
  const job = { orgId: 'default', jobId: id };
  const draining = new AbortController();
  const deps = {
    ...{
      db: http.db,
      container,
      providers: createProviders({ OPENAI_BASE_URL: world.model.url, OPENAI_API_KEY: 'sk-test' }),
      secretKey: http.deps.secretKey,
    },
    ...{ notifications: http.deps.notifications, publicUrl: 'http://127.0.0.1:9', draining: draining.signal },
    ...{ metrics: createMetrics(), log: pino({ level: 'silent' }) },
  } as unknown as ActivityDeps;
  const { search: settings } = await inActivity(() => prepareActivities(deps).prepareSession(job));
  const first: RunSearchInput = { ...job, state: algorithmOf(settings).create(settings), steps: 0, given: [] };
  const attempt = (input: RunSearchInput = first, with_: Partial<ActivityDeps> = {}): Promise<RunSearchResult> => {
    const all = { ...deps, ...with_ };
    return inActivity(() => searchActivity(all, new RolloutRunners(all)).search(input));
  };
  const catchUp = () => inActivity(() => searchActivity(deps, new RolloutRunners(deps)).catchUp(first));
  const query = (text: string) => http.db.org('default', (tx) => tx.query<Record<string, unknown>>(text, [id]));
  const calls = () => world.container.callsOf(id);
  return { id, job, first, attempt, catchUp, query, calls };
}

/** Takes the lease away, as another attempt does. */
const takeLease = `update job_controls set lease_token = lease_token + 1, lease_owner = null where job_id = $1`;

const isDone = ({ state, steps }: Pick<RunSearchResult, 'state' | 'steps'>) =>
  new SearchProgress(state, steps).next().kind === 'done';

/** The search without an interruption. */
async function uncut() {
  const search = await startSearch();
  const result = await search.attempt();
  expect([isDone(result), result.fault]).toEqual([true, null]);
  return { ...search, result };
}

test('a repeated attempt ends in the same state, and buys nothing', async () => {
  const { attempt, calls, result } = await uncut();
  const [bought, asked] = [calls().length, world.model.requests.length];
  expect(await attempt()).toEqual(result);
  expect([calls().length, world.model.requests.length]).toEqual([bought, asked]);
});

test('logs one line for each generation when it is recorded, and counts the proposals', async () => {
  const { first, attempt, query } = await startSearch();
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[0]) });
  const metrics = createMetrics();
  const recorded = () =>
    query(
      `select 'generation complete' as msg, job_id, data->'generation' as generation, data->'best_reward' as best_reward,
              data->'rollouts_completed' as rollouts, data->'cost_usd' as cost_usd
         from events where job_id = $1 and type = 'generation_complete' order by seq`,
    );
  await attempt(first, { log, metrics });
  expect(lines.length).toBeGreaterThan(1);
  expect(lines).toMatchObject(await recorded());
  expect(lines.at(-1)!['candidates']).toBeGreaterThan(1);
  expect(await mergeMetrics([metrics.values])).toMatch(/ratchet_proposals_total{outcome="proposed"} [1-9]/);
  await attempt(first, { log, metrics });
  expect(lines).toMatchObject(await recorded());
});

test('a proposal that failed stays failed in the next attempt', async () => {
  const from = world.model.requests.length;
  world.model.reply((request) =>
    world.model.requests.length === from + 1 ? { status: 400 } : { text: propose(request) },
  );
  const { attempt, result } = await uncut();
  expect(await attempt()).toEqual(result);
});

test('the state of an attempt whose result was lost is read from the record', async () => {
  const { catchUp, result } = await uncut();
  expect(await catchUp()).toEqual({ state: result.state, steps: result.steps });
});

test('a merge, which needs neither rows nor a model, has no transaction of its own', async () => {
  const { query } = await uncut();
  const steps = await query(
    `select xmin::text as transaction, input->>'kind' = 'proposals'
            and not jsonb_path_exists(input::jsonb, '$.answers[*] ? (!exists(@.parents))') as merged
       from search_inputs where job_id = $1 order by step`,
  );
  const merged = steps.flatMap((step, index) => (step['merged'] ? [[step, steps[index - 1]]] : []));
  expect(merged.length).toBeGreaterThan(0);
  for (const [step, last] of merged) expect(step!['transaction']).toBe(last!['transaction']);
});

test('an attempt after a lost result knows how many rollouts failed', async () => {
  const search = await startSearch();
  const failed = new Set<unknown>();
  world.container.behave((call) => (failed.size < 2 && failed.add(call) ? answers.status(422) : world.answer(call)));
  const result = await search.attempt();
  expect(result.counts!.failed).toBeGreaterThan(0);
  expect((await search.attempt()).counts).toEqual(result.counts);
});

describe('while only the proposer works', () => {
  const asked = async () => {
    const search = await startSearch();
    const held = gate();
    const from = world.model.requests.length;
    world.model.reply(async (request) => {
      await held.opened;
      return { text: propose(request) };
    });
    const attempt = search.attempt();
    attempt.catch(() => undefined);
    await until('the proposer is asked', () => world.model.requests.length > from);
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
  const whole = await startSearch();
  let callsBefore: number | undefined;
  world.model.reply((request) => {
    callsBefore ??= whole.calls().length;
    return { text: propose(request) };
  });
  await whole.attempt();
  const paused = await startSearch();
  const asked = world.model.requests.length;
  world.container.behave((call) => async (_, response) => {
    if (paused.calls().length === callsBefore)
      await paused.query(`update job_controls set control = 'pause' where job_id = $1`);
    await world.answer(call)(call, response);
  });
  const { state, steps, fault } = await paused.attempt();
  expect([new SearchProgress(state, steps).next().kind, fault]).toEqual(['proposals', null]);
  expect([paused.calls().length, world.model.requests.length]).toEqual([callsBefore, asked]);
});

test('an answer that would end the search waits for a prompt that a person may have given', async () => {
  const { result: whole } = await uncut();
  const { first, attempt, query, calls } = await startSearch();
  world.container.behave((call) => async (_, response) => {
    await query(`select pg_notify('ratchet_control', $1)`);
    await world.answer(call)(call, response);
  });
  let last: Pick<RunSearchResult, 'state' | 'steps'> = first;
  for (let isWaiting = false; !isWaiting;) {
    const result = await attempt({ ...first, ...last });
    expect(isDone(result)).toBe(false);
    isWaiting = result.steps === last.steps;
    last = result;
  }
  const bought = calls().length;
  expect((await attempt({ ...first, ...last })).state).toEqual(whole.state);
  expect(calls()).toHaveLength(bought);
});

test('without the first inputs the search asks again, and gets the recorded answers', async () => {
  const { attempt, calls, query, result } = await uncut();
  const bought = calls().length;
  await query('delete from search_inputs where job_id = $1 and step = 1');
  expect((await attempt()).state).toEqual(result.state);
  expect(calls()).toHaveLength(bought);
});

test('the answers of a round and the start of the next one share a transaction', async () => {
  const { query } = await uncut();
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
  const orgHot: typeof http.db.orgHot = (orgId, work) =>
    http.db.orgHot(orgId, (tx) => {
      const query: typeof tx.query = (text, ...more) => {
        if (text.includes('insert into search_inputs') && (counted.tries += 1) >= from)
          throw new RangeError(`refused ${(counted.refused += 1)}`);
        return tx.query(text, ...more);
      };
      return work(Object.assign(Object.create(tx) as typeof tx, { query }));
    });
  return { counted, db: Object.assign(Object.create(http.db) as typeof http.db, { orgHot }) };
}

test('a step that can never be recorded fails the job with its first cause', async () => {
  const { attempt } = await startSearch();
  const { db, counted } = refusingSteps(1);
  // With the outcomes before it, alone, and with the end of the slice.
  await expect(attempt(undefined, { db })).rejects.toMatchObject({
    type: 'internal',
    details: [{ message: 'Internal error: refused 2', retryable: false }],
  });
  expect(counted.refused).toBe(3);
});

test('the outcomes before a step that cannot be recorded are on record', async () => {
  const { attempt, calls, query, first } = await startSearch();
  const { db, counted } = refusingSteps(5);
  await attempt(first, { db }).catch(() => undefined);
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
  const { attempt, calls, query } = await startSearch();
  const draining = new AbortController();
  let transactions = 0;
  const orgHot: typeof http.db.orgHot = async (orgId, work) => {
    const result = await http.db.orgHot(orgId, work);
    // The first one takes the lease, the second claims.
    if ((transactions += 1) === 2) draining.abort();
    return result;
  };
  const db = Object.assign(Object.create(http.db) as typeof http.db, { orgHot });
  await attempt(undefined, { db, draining: draining.signal });
  const states = () => query('select distinct status, resent from rollouts where job_id = $1');
  expect([calls().length, await states()]).toEqual([0, [{ status: 'queued', resent: 0 }]]);
  await attempt();
  expect(await states()).toEqual([{ status: 'succeeded', resent: 0 }]);
});

describe('an attempt that is cut at any call of the container', () => {
  let whole: Awaited<ReturnType<typeof uncut>>;
  beforeAll(async () => {
    world.reset();
    whole = await uncut();
  });

  /** Cuts an attempt at the n-th call of a new search, and compares the next one. */
  const cutAt = (ends: 'by a shutdown' | 'by another attempt') =>
    fc.asyncProperty(fc.nat(whole.calls().length - 1), async (n) => {
      world.reset();
      const search = await startSearch();
      const draining = new AbortController();
      world.container.behave((call) => async (_, response) => {
        if (search.calls().length === n + 1) {
          if (ends === 'by a shutdown') draining.abort();
          // As after a pause of this process that was longer than the lease.
          else await search.query(takeLease);
        }
        await world.answer(call)(call, response);
      });
      const cut = await search.attempt(search.first, { draining: draining.signal }).catch(() => null);
      if (ends === 'by another attempt') expect(cut).toBeNull();
      world.reset();
      const result = await search.attempt(cut ? { ...search.first, ...cut } : search.first);
      expect([result.state, result.steps]).toEqual([whole.result.state, whole.result.steps]);
      if (ends === 'by a shutdown') expect(search.calls()).toHaveLength(whole.calls().length);
    });

  test('by a shutdown, goes on without another call', () => fc.assert(cutAt('by a shutdown'), { numRuns: 8 }), 60_000);

  test('by another attempt, writes nothing more', () => fc.assert(cutAt('by another attempt'), { numRuns: 8 }), 60_000);
});
