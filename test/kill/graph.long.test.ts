import { expect, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import type { ModelRequest } from '../support/fakes/model.js';
import { gate, type Gate } from '../support/gate.js';
import { isProposal, kindOf } from '../support/worlds/asked.js';
import { startGraphWorld } from '../support/worlds/graph.js';
import { createGraphJob, ended, eventsOf, settledSpend, type GraphJob } from '../support/jobs-over-http.js';
import { range } from '../support/range.js';
import { startShortHistories } from '../support/servers/short-histories.js';
import { until } from '../support/until.js';
import { found } from '../harness/evidence/found.js';
import { workerOfFile } from '../harness/worlds/processes.js';

// kill -9 of the worker of graph jobs with max_cost_usd at each critical moment: between a model's
// answer and its record, between a rollout's last answer and its outcome, at the judge, and just
// after a continue-as-new. Table locks hold the records up. No recorded answer is bought again, the
// result equals that of a run without a kill, and the recorded cost covers every answer.

const maxUsd = 1;
const tightUsd = 0.02;
/** Dollars a token of gpt-4o-mini, as OpenAI publishes them. */
const price = { prompt: 0.15e-6, answer: 0.6e-6 };
const usage = { prompt_tokens: 100, completion_tokens: 200 };
const callUsd = usage.prompt_tokens * price.prompt + usage.completion_tokens * price.answer;

const on = workerOfFile(async () => {
  const [temporal, world] = await Promise.all([startShortHistories(40), startGraphWorld()]);
  const close = async () => {
    await world.close();
    await temporal.stop();
  };
  return { ...world, env: { ...world.env, TEMPORAL_ADDRESS: temporal.address }, close };
});

type Asker = 'think' | 'solve' | 'judge' | 'writer';

/** Job and caller of a model call, read from its messages. */
interface Asked {
  job: string;
  asker: Asker;
}
function askedIn(messages: ModelRequest['body']['messages']): Asked {
  const said = messages.map(({ content }) => content).join('\n');
  const job = /\(job (\w+)\)/.exec(said)![1]!;
  if (isProposal(messages)) return { job, asker: 'writer' };
  if (kindOf(messages) === 'judgement') return { job, asker: 'judge' };
  return { job, asker: said.includes('Thought: ') ? 'solve' : 'think' };
}

/** Where a job blocks: from the first matching call on, none of its calls is answered. */
interface Stand {
  is(asked: Asked): boolean | Promise<boolean>;
  at: Asker | null;
  /** `gate` opens the blocked calls; `rest` opens all others, after their callers have gone. */
  gate: Gate;
  rest: Gate;
}
const stands = new Map<string, Stand>();
/** Number of calls by job name. */
const noted = new Map<string, number>();
const stopAt = (job: string, is: Stand['is']) => stands.set(job, { is, at: null, gate: gate(), rest: gate() });
const allStand = (jobs: string[]) =>
  until(`${jobs.join(', ')} stand still`, () => jobs.every((job) => stands.get(job)!.at !== null), 60);
/** Answers the calls at which these jobs block. */
const release = (jobs: string[]) => jobs.forEach((job) => stands.get(job)?.gate.open());

const twoSteps = (job: string) => ({
  inputs: ['question'],
  steps: ['think', 'solve'].map((id) => ({
    id,
    type: 'llm',
    inputs: { question: 'input.question', ...(id === 'solve' && { thought: 'think.answer' }) },
    messages: [
      { role: 'system', content: `Name the rule. (job ${job})` },
      { role: 'user', content: id === 'solve' ? '{{question}}\nThought: {{thought}}' : '{{question}}' },
    ],
    output: { field: 'answer' },
  })),
  output: 'solve.answer',
});

function create(job: string, max_cost_usd = maxUsd): Promise<string> {
  const tasks = range(0, 12).map((item) => ({
    id: `t${item}`,
    input: { question: `What is item ${item}? (job ${job})` },
  }));
  const openai = { policy_model: 'gpt-4o-mini', policy_provider: 'openai', proposer: undefined };
  return createGraphJob(
    on.service,
    on.world.job(0, {
      ...openai,
      dataset: {
        tasks,
        default_rubric: 'Is it a rule?',
        verifier_config: { mode: 'rubric', model: 'gpt-4o-mini', provider: 'openai' },
      },
      initial_graph: twoSteps(job),
      max_concurrent: 3,
      rollout_budget: 80,
      budget: { max_cost_usd },
    }),
  );
}

/** A job's results without its own names. */
const foundOf = async (job: string, id: string): Promise<unknown> =>
  JSON.parse(JSON.stringify(await found(on.service.query, id)).replaceAll(`(job ${job})`, '(job)'));
const recorded = async (id: string) =>
  (await on.service.query<{ n: number }>('select count(*) as n from model_calls where job_id = $1', [id]))[0]!.n;

/** Calls of each job without a record, which the job must repeat. */
const lost = new Map<string, number>();

/**
 * kill -9 of the worker once `when` holds while a table is locked against writes; then a new one.
 */
async function killWith(
  ids: Map<string, string>,
  table: string,
  jobs: string[],
  when: (waiting: number) => Promise<boolean> | boolean,
): Promise<void> {
  await on.worker.killAt([`lock table ${table} in share mode`], () => release(jobs), when);
  for (const [job, id] of ids) lost.set(job, (noted.get(job) ?? 0) - (await recorded(id)));
  for (const [job, stand] of stands) {
    stand.gate.open();
    stand.rest.open();
    stands.delete(job);
  }
  await on.worker.start();
}
test('repeats no recorded call, and accounts for every answer', async () => {
  on.world.model.reply(async (request) => {
    const asked = askedIn(request.body.messages);
    noted.set(asked.job, (noted.get(asked.job) ?? 0) + 1);
    const stand = stands.get(asked.job);
    if (stand && (stand.at || (await stand.is(asked)))) {
      stand.at ??= asked.asker;
      await (asked.asker === stand.at ? stand.gate : stand.rest).opened;
    }
    return { ...on.world.answer(request), usage };
  });

  await on.worker.start();
  const twin = await create('twin');
  expect(await ended<GraphJob>(on.service, twin, 60)).toMatchObject({ status: 'completed' });
  expect(noted.get('twin')).toBe(await recorded(twin));

  const ids = new Map<string, string>();
  const begin = async (job: string, is: Stand['is'], usd = maxUsd) => {
    stopAt(job, is);
    ids.set(job, await create(job, usd));
  };
  const runOf = async (job: string) => (await on.service.workflow(ids.get(job)!).describe()).runId;
  const first = new Map<string, string>();
  await Promise.all([
    begin('proposal', ({ asker }) => asker === 'writer'),
    begin('judge', ({ asker }) => asker === 'judge'),
    begin('step', ({ asker }) => asker === 'solve'),
    begin('run', async ({ job }) => {
      if (first.has(job) && (await runOf(job)) !== first.get(job)) return true;
      // A slow model: the first run must not be the last one.
      await delay(200);
      return false;
    }),
    begin('tight', ({ asker }) => asker === 'judge', tightUsd),
  ]);
  const all = [...ids.keys()];
  first.set('run', await runOf('run'));
  await until('the job "run" is in its second run', async () => {
    await Promise.all(range(0, 3).map(() => on.service.workflow(ids.get('run')!).signal('resume')));
    return (await runOf('run')) !== first.get('run');
  });
  await allStand(all);
  expect(stands.get('proposal')!.at).toBe('writer');
  // Paid answers without a record; the answers of two jobs never arrive.
  await killWith(ids, 'model_calls', ['proposal', 'judge', 'step'], (waiting) => waiting >= 3);
  expect(Math.min(...all.map((job) => lost.get(job)!))).toBeGreaterThan(0);

  // Recorded answers, the last of their rollouts, without a recorded outcome.
  for (const job of ['judge', 'step']) stopAt(job, ({ asker }) => asker === 'judge');
  await allStand(['judge', 'step']);
  const judged = (job: string) => recorded(ids.get(job)!);
  const before = [await judged('judge'), await judged('step')] as const;
  await killWith(ids, 'events', ['judge', 'step'], async (waiting) => {
    const now = [await judged('judge'), await judged('step')] as const;
    return now[0] > before[0] && now[1] > before[1] && waiting >= 2;
  });

  for (const [job, id] of ids) {
    const seen = await ended<GraphJob>(on.service, id, 90);
    if (job === 'tight') expect(seen).toMatchObject({ status: 'completed', stopped_by: 'max_cost_usd' });
    else expect([job, await foundOf(job, id)]).toEqual([job, await foundOf('twin', twin)]);
    const events = await eventsOf(on.service, id);
    expect(events.map(({ seq }) => seq)).toEqual(range(1, events.length));
    expect(events.at(-1)!.type).toBe('job_complete');
    // One call each, except those without a record at the worker's death.
    expect([job, noted.get(job)]).toEqual([job, (await recorded(id)) + lost.get(job)!]);
    const answered = noted.get(job)! * callUsd;
    const spent = await settledSpend(on.service, id);
    expect(spent).toBeLessThanOrEqual(job === 'tight' ? tightUsd : maxUsd);
    expect(spent).toBeGreaterThanOrEqual(answered - 1e-9);
  }
}, 300_000);
