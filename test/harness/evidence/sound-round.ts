import type { DeploymentEvidence, Evidence, JobEvidence, RolloutRow, SeenEvent } from './evidence.js';
import type { ContainerLine, ModelLine } from './ledger.js';

/** When the jobs of the sound round ended, in epoch milliseconds. */
export const end = 100_000;
/** The key of the evaluation's only model call. */
export const asked = 'job=evaluation seed=0 rollout=r0 ask=0';
const killedAt = 5_000;

type Told = SeenEvent & { key: string };

/** A successfully ended job, with the fields that all jobs have. */
function jobOf(
  { name, id, kind }: Pick<JobEvidence, 'name' | 'id' | 'kind'>,
  rollouts: RolloutRow[],
  events: Told[],
  more: Partial<JobEvidence> = {},
): JobEvidence {
  const seen = () => structuredClone(events.map(({ seq, type, message, data }) => ({ seq, type, message, data })));
  return {
    answered: [id],
    hasContainer: kind !== 'graph',
    name,
    id,
    kind,
    maxConcurrent: 2,
    seeds: rollouts.map(({ seed }) => seed),
    mayEnd: ['completed'],
    outside: null,
    status: 'completed',
    errorCode: null,
    completedAt: end,
    workflow: 'COMPLETED',
    trapped: false,
    rollouts,
    frames: [],
    events,
    eventSeq: events.length,
    pages: seen(),
    calls: [],
    container: [],
    bought: [],
    streams: [{ reader: 'straight', events: seen(), cuts: 2, ended: true }],
    resent: rollouts.reduce((sum, { resent }) => sum + resent, 0),
    results: null,
    traces: rollouts.map(({ id: trace, status, reward, resent }) => ({ id: trace, status, reward, resent, calls: [] })),
    deployment: null,
    ...more,
  };
}

const row = (id: string, seed: number, status: string, reward: number | null, completedAt: number, resent = 0) => ({
  id,
  seed,
  status,
  reward,
  completedAt,
  resent,
  attempt: resent + 1,
  began: true,
  output: null,
  code: reward === null ? 'container_answer_invalid' : null,
  message: reward === null ? 'half' : null,
});
const event = (seq: number, type: string, key: string, data: Record<string, unknown> = {}): Told => ({
  seq,
  type,
  key,
  message: key,
  data,
});
/** A container call with its result. */
const call = (rolloutId: string, seed: number, attempt: number, at: number, fault: string, last: ContainerLine[]) =>
  [
    { event: 'in', at, rolloutId, seed, attempt, concurrency: 1 },
    { event: 'plan', at, rolloutId, attempt, fault },
    ...last,
  ] satisfies ContainerLine[];
const out = (rolloutId: string, seed: number, attempt: number, at: number): ContainerLine => ({
  event: 'out',
  at,
  rolloutId,
  seed,
  attempt,
  status: 200,
  finished: true,
});
const answer = (rolloutId: string, attempt: number, at: number, reward: number): ContainerLine => ({
  event: 'answer',
  at,
  rolloutId,
  attempt,
  reward,
});

/** r1 was in flight at the kill; r2 got incomplete JSON. */
function evaluation(): JobEvidence {
  const rollouts = [
    row('r0', 0, 'succeeded', 1, 1_100),
    row('r1', 1, 'succeeded', 0.5, 20_100, 1),
    row('r2', 2, 'failed', null, 1_200),
  ];
  const outcomeEvent = (seq: number, { id, status, reward }: RolloutRow) =>
    event(seq, 'eval.policy.seed.completed', `rollout:${id}`, { rollout_id: id, status, reward });
  const events = [
    outcomeEvent(1, rollouts[0]!),
    outcomeEvent(2, rollouts[2]!),
    outcomeEvent(3, rollouts[1]!),
    event(4, 'eval.policy.job.completed', 'end'),
  ];
  const line = { job: 'evaluation', key: asked, fault: 'good' };
  return jobOf({ name: 'evaluation', id: 'evl_1', kind: 'evaluation' }, rollouts, events, {
    calls: [
      {
        id: 'call_1',
        purpose: 'rollout',
        rolloutId: 'r0',
        key: asked,
        httpStatus: 200,
        text: 'yes',
        createdAt: 1_050,
      },
    ],
    results: rollouts.map(({ id, seed, status, reward, message }) => ({
      traceId: id,
      seed,
      status,
      reward,
      error: message,
    })),
    traces: rollouts.map(({ id, status, reward, resent }) => ({
      id,
      status,
      reward,
      resent,
      calls: id === 'r0' ? ['call_1'] : [],
    })),
    container: [
      ...call('r0', 0, 1, 1_000, 'good', [
        { event: 'asked', at: 1_060, rolloutId: 'r0', attempt: 1, status: 200, text: 'yes' },
        answer('r0', 1, 1_070, 1),
        out('r0', 0, 1, 1_071),
      ]),
      ...call('r1', 1, 1, 1_080, 'good', []),
      ...call('r2', 2, 1, 1_150, 'half a JSON', [out('r2', 2, 1, 1_151)]),
      ...call('r1', 1, 2, 20_000, 'good', [answer('r1', 2, 20_050, 0.5), out('r1', 1, 2, 20_051)]),
    ],
    bought: [
      { event: 'in', at: 1_040, ...line },
      { event: 'out', at: 1_045, ...line, finished: true },
    ],
  });
}

/** A graph job: g0 is recorded; g1 was in flight at the kill and was called again. */
function graph(): JobEvidence {
  const rollouts = [
    { ...row('g0', 0, 'succeeded', 1, 1_100), output: 'rule-0' },
    { ...row('g1', 1, 'succeeded', 0, 20_100, 1), output: 'unknown' },
  ];
  const outcomeEvent = (seq: number, { id, status, reward }: RolloutRow) =>
    event(seq, 'rollout_completed', `rollout:${id}`, { rollout_id: id, status, reward });
  const line = (key: string) => ({ job: 'graph', key, fault: 'good' });
  const record = (id: string, rolloutId: string, key: string, text: string, createdAt: number) => ({
    id,
    purpose: 'rollout',
    rolloutId,
    key,
    httpStatus: 200,
    text,
    createdAt,
  });
  const bought: ModelLine[] = [
    { event: 'in', at: 1_040, ...line('zero') },
    { event: 'out', at: 1_045, ...line('zero'), finished: true },
    { event: 'in', at: killedAt + 10, ...line('one') },
    { event: 'in', at: 20_000, ...line('one') },
    { event: 'out', at: 20_010, ...line('one'), finished: true },
  ];
  const events = [outcomeEvent(1, rollouts[0]!), outcomeEvent(2, rollouts[1]!), event(3, 'job_complete', 'end')];
  return jobOf({ name: 'graph', id: 'grf_1', kind: 'graph' }, rollouts, events, {
    calls: [record('call_g0', 'g0', 'zero', 'rule-0', 1_050), record('call_g1', 'g1', 'one', 'unknown', 20_020)],
    traces: rollouts.map(({ id, status, reward, resent }) => ({
      id,
      status,
      reward,
      resent,
      calls: [`call_${id}`],
    })),
    frames: [{ traces: ['g0', 'g1'], count: 2 }],
    bought,
  });
}

/** The deployment that is live from then on. */
function deployment(id: string, name: string, liveAt: number, more: Partial<DeploymentEvidence>): JobEvidence {
  const events = [event(1, 'deployment_building', 'building'), event(2, 'job_complete', 'end')];
  return jobOf({ name, id, kind: 'deployment' }, [], events, {
    deployment: {
      status: 'ready',
      live: false,
      liveAt,
      snapshotId: `snap_${name}`,
      prompt: `I am ${name}`,
      gate: null,
      evaluations: [],
      sent: [],
      counted: { requests: 1, errors: 0, aborted: 0 },
      ...more,
    },
  });
}

/** The second deployment's gate. */
function gateEvaluation(): JobEvidence {
  const rollouts = [row('e0', 0, 'succeeded', 0.9, 25_100)];
  const { id, status, reward } = rollouts[0]!;
  const events = [
    event(1, 'eval.policy.seed.completed', 'rollout:e0', { rollout_id: id, status, reward }),
    event(2, 'eval.policy.job.completed', 'end'),
  ];
  return jobOf({ name: 'gate', id: 'evl_2', kind: 'evaluation' }, rollouts, events, {
    container: call('e0', 0, 1, 25_000, 'good', [answer('e0', 1, 25_050, 0.9), out('e0', 0, 1, 25_060)]),
    results: [{ traceId: id, seed: 0, status, reward, error: null }],
  });
}

/** A violation-free round with a kill, a job of each kind and a client of deployments. */
export function sound(): Evidence {
  const evaluated = evaluation();
  const gate = { passed: true, candidate: { jobId: 'evl_2', reward: 0.9 }, incumbent: null };
  const gated = { gate, evaluations: [{ id: 'evl_2', runs: 'new', repeats: null }], sent: ['e0'] };
  const servedRequest = (n: number, at: number, name: string, id: string) => ({
    n,
    at,
    endedAt: at + 20,
    status: 200,
    text: `I am ${name}`,
    deploymentId: id,
    snapshotId: `snap_${name}`,
  });
  const untold = (n: number, at: number, status: number) => ({
    n,
    at,
    endedAt: at + 20,
    status,
    text: null,
    deploymentId: null,
    snapshotId: null,
  });
  return {
    kind: 'served-kill-tree',
    seed: 1,
    lastFaultAt: 60_000,
    overAt: end,
    kills: [{ at: killedAt, goneAt: killedAt + 100, until: 8_000, what: 'tree', worker: true, serving: true }],
    jobs: [
      evaluated,
      graph(),
      deployment('dep_1', 'old', 2_000, {}),
      deployment('dep_2', 'new', 26_000, { ...gated, live: true, counted: { requests: 2, errors: 0, aborted: 0 } }),
      gateEvaluation(),
    ],
    found: ['evl_1', 'grf_1', 'dep_1', 'dep_2', 'evl_2'],
    strikes: [{ fault: 'worker', at: killedAt, until: 8_000, count: 1, open: 5 }],
    model: evaluated.bought,
    asks: [
      untold(0, 1_000, 404),
      servedRequest(1, 2_100, 'old', 'dep_1'),
      untold(2, 5_500, 0),
      servedRequest(3, 30_000, 'new', 'dep_2'),
      servedRequest(4, end + 10, 'new', 'dep_2'),
    ],
    memory: { worker: 200 },
    died: [],
  };
}
