import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { createProviders, type Providers } from '../../src/models/client/providers.js';
import { completeChat } from '../../src/models/client/complete-chat.js';
import { graphToJson } from '../../src/core/graphs/json.js';
import { now } from '../clock.js';
import { toLangGraph, ratchet, type Ask, type Executor } from '../graph/executors.js';
import { branches, chain, type Shape } from '../graph/shapes.js';
import { graphJob } from '../jobs.js';
import { langgraph, langgraphVersion, type LangGraph } from '../peers/langgraph/install.js';
import { median } from '../stats.js';
import type { Row } from '../table.js';
import { difference, type World } from '../world.js';

const peer = `LangGraph.js ${langgraphVersion}, nothing kept`;
const home = join(import.meta.dirname, '..', '..', '.ratchet', 'bench-node');
/** Rounds of ours and the peer in turn; the median counts. */
const rounds = { fast: 9, slow: 7 };
/** Approximate duration of a round. */
const roundMs = 200;
const latencyMs = 50;
const tasks = 60;
const rolloutBudget = 200;

/** Cost of the graph executor, alone and next to LangGraph, and of a recorded run. */
export async function run(world: World): Promise<Row[]> {
  let missing = '';
  const lang = await langgraph(home).catch((error: Error) => {
    missing = error.message;
    return null;
  });
  // LangGraph has a listener per running step: no leak; the warning would cost time.
  setMaxListeners(0);
  const providers = createProviders({ RATCHET_PROVIDERS: 'fake', FAKE_BASE_URL: world.model.url });
  try {
    const alone: Row[] = [];
    for (const shape of [chain(50), branches(45, 1)]) alone.push(...(await overhead(shape, lang, missing)));
    const slow: Row[] = [];
    for (const shape of [branches(8, 4), branches(16, 2)])
      slow.push(...(await overIdeal(shape, lang, missing, providers)));
    return [...alone, ...slow, ...(await throughService(world, providers))];
  } finally {
    await providers.close();
  }
}

/**
 * Microseconds per step without model latency: wall time, and CPU, which other load hardly changes.
 */
async function overhead({ name, graph }: Shape, lang: LangGraph | null, missing: string): Promise<Row[]> {
  const ask: Ask = () => Promise.resolve('The parcel has left our store this morning.');
  const executors = [ratchet(graph, ask), ...(lang ? [toLangGraph(lang, graph, ask)] : [])];
  const perRound: number[] = [];
  // Warm up the compiler.
  for (const executor of executors) {
    const until = now() + 2 * roundMs;
    let runs = 0;
    while (now() < until) {
      await executor();
      runs += 1;
    }
    perRound.push(Math.max(1, Math.round(runs / 2)));
  }
  const times = await turns(executors, rounds.fast, perRound);
  return (['wall', 'CPU'] as const).map((of): Row => {
    const [own, peerValue] = times.map((runs) => median(runs.map((run) => run[of])) * (1_000 / graph.steps.length));
    return {
      what: `${name}, answers there at once: ${of} per step`,
      value: own!,
      unit: 'µs',
      beside: { what: peerValue === undefined ? `${peer}: ${missing}` : peer, value: peerValue ?? null },
      raw: times,
    };
  });
}

/** Wall time of a run with 50 ms per answer over HTTP; the ideal is the critical path. */
async function overIdeal(
  { name, graph, critical }: Shape,
  lang: LangGraph | null,
  missing: string,
  providers: Providers,
): Promise<Row[]> {
  const ask = overHttp(providers, `wait-${latencyMs}`);
  const executors = [ratchet(graph, ask), ...(lang ? [toLangGraph(lang, graph, ask)] : [])];
  for (const executor of executors) await executor();
  const times = await turns(executors, rounds.slow, [1, 1]);
  const [own, peerValue] = times.map(measureWall);
  const what = `${name}, ${latencyMs} ms a call over HTTP: wall`;
  return [
    {
      what,
      value: own!,
      unit: 'ms',
      beside: { what: 'ideal', value: critical * latencyMs },
      aim: { of: 'ratio', most: 1.2 },
    },
    {
      what,
      value: own!,
      unit: 'ms',
      beside: { what: peerValue === undefined ? `${peer}: ${missing}` : peer, value: peerValue ?? null },
      raw: times,
    },
  ];
}

/** Calls a model as a rollout's step does, through the service's provider client. */
function overHttp(providers: Providers, model: string): Ask {
  const policy = { provider: 'fake', model, params: {} };
  const { signal } = new AbortController();
  return async (messages) => {
    const answer = await completeChat(providers, { asker: 'step', policy, messages: [...messages], signal });
    if (!answer.ok) throw new Error(answer.message);
    return answer.text;
  };
}

/** Milliseconds of a run: wall time, and this process's CPU. */
interface Timing {
  wall: number;
  CPU: number;
}

const measureWall = (runs: readonly Timing[]) => median(runs.map(({ wall }) => wall));

/** Time per run, by executor and round. */
async function turns(executors: readonly Executor[], count: number, perRound: readonly number[]): Promise<Timing[][]> {
  const timings = executors.map((): Timing[] => []);
  for (let round = 0; round < count; round += 1) {
    for (const [index, executor] of executors.entries()) {
      const runs = perRound[index]!;
      const [from, used] = [now(), process.cpuUsage()];
      for (let n = 0; n < runs; n += 1) await executor();
      const { user, system } = process.cpuUsage(used);
      timings[index]!.push({ wall: (now() - from) / runs, CPU: (user + system) / 1_000 / runs });
    }
  }
  return timings;
}

/** Runs a graph as a job does: a rollout that records every answer before use. */
async function throughService(world: World, providers: Providers): Promise<Row[]> {
  const plain = chain(10);
  await job(world, plain, 'fake-1');
  const quick = await job(world, plain, 'fake-1');
  const direct = ratchet(plain.graph, overHttp(providers, 'fake-1'));
  await direct();
  const [alone] = await turns([direct], rounds.slow, [10]);
  const wide = branches(8, 4);
  const slow = await job(world, wide, `wait-${latencyMs}`);
  return [
    {
      what: `graph job, ${plain.name}, 0 ms a call over HTTP, one run at a time: a run's wall per call`,
      value: quick.runMs / plain.graph.steps.length,
      unit: 'ms',
      beside: { what: 'the same driver, nothing kept', value: measureWall(alone!) / plain.graph.steps.length },
      used: { unit: 'call', n: quick.calls, spent: quick.spent },
      raw: quick,
    },
    {
      what: `graph job, ${wide.name}, ${latencyMs} ms a call over HTTP, one run at a time: a run's wall`,
      value: slow.runMs,
      unit: 'ms',
      beside: { what: 'ideal', value: wide.critical * latencyMs },
      aim: { of: 'ratio', most: 1.2 },
      used: { unit: 'call', n: slow.calls, spent: slow.spent },
      raw: slow,
    },
  ];
}

async function job(world: World, { graph }: Shape, model: string) {
  const before = await world.spent();
  const questions = Array.from({ length: tasks }, (_, n) => ({ id: `task-${n}`, input: { question: `Parcel ${n}?` } }));
  const { jobId } = await graphJob(world, {
    dataset: {
      tasks: questions,
      // All rewards are 1: only the baseline runs.
      gold_outputs: questions.map(({ id }) => ({ task_id: id, output: 'parcel' })),
      verifier_config: { mode: 'contains' },
    },
    policy_model: model,
    policy_provider: 'fake',
    rollout_budget: rolloutBudget,
    preflight: false,
    max_concurrent: 1,
    initial_graph: graphToJson(graph),
  });
  const spent = difference(before, await world.spent());
  const { rows } = await world.postgres.query<{ runs: string; calls: string; ms: number }>(
    `select count(*) as runs,
            (select count(*) from model_calls where job_id = $1 and purpose = 'rollout') as calls,
            percentile_cont(0.5) within group (order by extract(epoch from completed_at - started_at) * 1000) as ms
       from rollouts where job_id = $1 and status = 'succeeded'`,
    [jobId],
  );
  const [{ runs, calls, ms } = { runs: '0', calls: '0', ms: NaN }] = rows;
  return { runs: Number(runs), calls: Number(calls), runMs: Number(ms), spent };
}
