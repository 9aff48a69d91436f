import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Api } from '../support/api.js';
import { firstFree } from '../../src/platform/embedded/ports.js';
import { Breakpoints, moments, type Call, type Point } from './breakpoints.js';
import { startCluster, type Cluster } from '../support/servers/cluster.js';
import { startTree } from '../support/servers/tree.js';
import { until } from '../support/until.js';
import type { Sql } from '../harness/evidence/found.js';
import { SeededChoice } from '../harness/seeded-choice.js';
import { Restartable } from '../harness/worlds/restartable.js';
import { startTcpProxies, type TcpProxies } from '../support/servers/tcp-proxies.js';
import { variants, isMipro, request, startVariants, tightRollouts } from './session-variants.js';
import { planPoints, type CallRange } from './plan.js';
import { allFound, answeredOf, batchesOf, countOf, endedOf, eventsIn } from './records.js';

// Equal seeds and answers give equal candidates, history and results at any timing, and after kill
// -9 at any moment. Sessions of every variant run side by side in one process. Each blocks at its
// own kill point: a rollout, a proposer request or a rollout's model call, on arrival or with its
// answer. When all block, the process is killed; answers to deliver are released together, and the
// kill follows a chunk of the process's traffic to Postgres or Temporal. Containers, models and
// proxies survive; no choice depends on the clock.

const seed = 20_261_122;
const rounds = 5;
const stages = [
  'baseline',
  'minibatch',
  'survey',
  'proposals',
  'gate',
  'gate again',
  'merge',
  'evaluation',
  'heldout',
  'completion',
];

let cluster: Cluster;
let proxies: TcpProxies<'postgres' | 'temporal'>;
let world: Awaited<ReturnType<typeof startVariants>>;
let settings: Record<string, string>;
const breakpoints = new Breakpoints();
const choice = new SeededChoice(seed);

const sql: Sql = (text, values) => cluster.db.org('default', (tx) => tx.query(text, values));
const service = new Restartable(() => startTree(settings, { command: 'dev' }));

beforeAll(async () => {
  cluster = await startCluster();
  const database = new URL(cluster.env['DATABASE_URL']!);
  proxies = await startTcpProxies({ postgres: database.host, temporal: cluster.env['TEMPORAL_ADDRESS']! });
  world = await startVariants(breakpoints);
  database.host = proxies.addresses.postgres;
  settings = {
    ...cluster.env,
    ...world.env,
    PORT: String(await firstFree()),
    DATABASE_URL: database.href,
    TEMPORAL_ADDRESS: proxies.addresses.temporal,
  };
  await service.start();
}, 120_000);
afterAll(async () => {
  await service.kill();
  await world.close();
  await proxies.close();
  await cluster.close();
}, 60_000);

/** Creates a session of each variant; returns their ids by name. */
async function createAll(run: string, maxConcurrent: number): Promise<Map<string, string>> {
  const api = new Api(service.tree.url, cluster.apiKey);
  const ids = new Map<string, string>();
  for (const variant of Object.keys(variants)) {
    const name = `${variant}-${run}`;
    const body = request(name, world.container.url, maxConcurrent);
    ids.set(name, (await api.call<{ session_id: string }>('POST', '/api/v1/online/sessions', body)).session_id);
  }
  return ids;
}

/** Possible kill points of a session, from a run without kills. */
async function callRanges(name: string, id: string): Promise<CallRange[]> {
  const batches = await batchesOf(sql, id);
  const indexes = batches.map(({ kind, from, to }): CallRange => ({ stage: kind, what: 'rollout', from, to }));
  const asked = new Set<number>();
  let reached = -1;
  for (const call of breakpoints.noted.filter(({ session }) => session === name)) {
    if (call.what === 'rollout') reached = Math.max(reached, call.ordinal!);
    if (call.what === 'question') asked.add(reached + 1);
  }
  // A MIPRO session's first request describes the task.
  const ofFirst = isMipro(name) ? 'survey' : 'proposals';
  const questions = [...asked].map((from, nth): CallRange => {
    return { stage: nth === 0 ? ofFirst : 'proposals', what: 'question', from, to: from + 1 };
  });
  const hasCompletions = breakpoints.noted.some(({ session, what }) => session === name && what === 'completion');
  const completions = indexes.map((index): CallRange => ({ ...index, stage: 'completion', what: 'completion' }));
  return [...indexes, ...questions, ...(hasCompletions ? completions : [])];
}

/** Later points of a MIPRO session: its first two proposer requests and its last trials. */
function pointsOfMipro(indexes: readonly CallRange[]): (Point | null)[] {
  const { from } = indexes.find(({ stage }) => stage === 'survey')!;
  const tests = (pattern: RegExp) => indexes.findLast(({ stage, what }) => what === 'rollout' && pattern.test(stage));
  const trials = (tests(/^gate again/) ?? tests(/^gate|^merge/))!;
  const written: Point = { what: 'question', from, moment: 'delivered' };
  return [written, written, { what: 'rollout', from: trials.to - 1, moment: 'delivered' }];
}

function stageOf({ point, at: { what, ordinal } }: { point: Point; at: Call }, indexes: readonly CallRange[]): string {
  const at = ordinal ?? point.from;
  return indexes.find((index) => index.what === what && index.from <= at && at < index.to)!.stage;
}

/** Kills the process at once, or at a chunk of its traffic after the release of sessions. */
async function kill(released: readonly string[]): Promise<void> {
  if (released.length > 0) {
    const isDeaf = choice.between(0, 1) === 0;
    const proxy = !isDeaf && choice.between(0, 1) === 0 ? 'temporal' : 'postgres';
    // The workflow does not know records of that moment.
    if (isDeaf) proxies.mute('temporal');
    const isCut = proxies.cutAt(proxy, choice.between(1, proxy === 'temporal' ? 12 : 90), choice.between(0, 1) === 0);
    for (const name of released) breakpoints.release(name);
    await isCut;
  }
  proxies.cut();
  await service.kill();
  breakpoints.killed();
  await proxies.mend();
}

test('a session killed at any point has the same results and repeats no recorded call', async () => {
  const calm = await createAll('calm', 8);
  await until('all have ended', async () => (await endedOf(sql, [...calm.values()])).size === calm.size, 240);
  const indexes = await Promise.all([...calm].map(([name, id]) => callRanges(name, id)));
  const gepaRanges = indexes.filter((_, at) => !isMipro([...calm.keys()][at]!));
  const planned = planPoints(gepaRanges, rounds, choice);
  const plan = indexes.map((own) => (gepaRanges.includes(own) ? planned.shift()! : pointsOfMipro(own)));

  const names = [...calm.keys()].map((name) => name.replace('calm', 'killed'));
  // Before the process starts: a session that continues meanwhile is beyond its point.
  const planStops = (round: number) => {
    for (const [at, name] of names.entries()) {
      const point = plan[at]![round];
      if (point) breakpoints.stopAt(name, point);
    }
  };
  planStops(0);
  const killed = await createAll('killed', 3);
  /** Records at the start of each process. */
  const onRecord: Map<string, Map<string, number>>[] = [new Map()];
  const met: { stage: string; moment: string }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await until(
      `all have stopped or ended (round ${round})`,
      async () => {
        const ended = await endedOf(sql, [...killed.values()]);
        return names.every(
          (name, at) => !plan[at]![round] || breakpoints.standing(name) || ended.has(killed.get(name)!),
        );
      },
      120,
    );
    const standing = names.flatMap((name, at) => {
      const stand = breakpoints.standing(name);
      return stand ? [{ name, moment: stand.point.moment, stage: stageOf(stand, indexes[at]!) }] : [];
    });
    met.push(...standing);
    await kill(standing.flatMap(({ name, moment }) => (moment === 'delivered' ? [name] : [])));
    const answered = [...killed].map(async ([name, id]) => [name, await answeredOf(sql, id)] as const);
    onRecord.push(new Map(await Promise.all(answered)));
    planStops(round + 1);
    await service.start();
  }
  await until('all have ended', async () => (await endedOf(sql, [...killed.values()])).size === killed.size, 240);

  expect([...new Set(met.map(({ stage }) => stage))].sort()).toEqual([...stages].sort());
  expect([...new Set(met.map(({ moment }) => moment))].sort()).toEqual([...moments].sort());

  const keysOf = (session: string, life?: number) =>
    countOf(
      breakpoints.noted
        .filter((call) => call.session === session && (life ?? call.life) === call.life)
        .map(({ key }) => key),
    );
  const twinOf = (name: string) => name.replace('killed', 'calm');
  // A recorded call is never repeated; any other call, no more often than without kills.
  const again = names.flatMap((name) => {
    const wanted = keysOf(twinOf(name));
    return onRecord.flatMap((before, life) => {
      const left = (key: string) => {
        const known = before.get(name)?.get(key) ?? 0;
        return key.startsWith('rollout') && known > 0 ? 0 : (wanted.get(key) ?? 0) - known;
      };
      return [...keysOf(name, life)]
        .map(([key, times]) => ({ name, life, key, times, most: left(key) }))
        .filter(({ times, most }) => times > most);
    });
  });
  expect(again).toEqual([]);
  const bought = [...keysOf('tight-killed').keys()].filter((key) => key.startsWith('rollout'));
  expect(bought.length).toBeLessThanOrEqual(tightRollouts);
  for (const [name, id] of killed) {
    const events = await eventsIn(sql, id);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(await allFound(sql, id)).toEqual(await allFound(sql, calm.get(twinOf(name))!));
  }
}, 600_000);
