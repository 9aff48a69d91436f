import { describe, expect, test } from '@jest/globals';
import { check, rules } from './checker.js';
import type { Evidence, JobEvidence, SeenEvent } from './evidence.js';
import type { ContainerLine } from './ledger.js';

// A checker that finds nothing proves nothing: each rule must see what it is there for.

const end = 100_000;
const job = 'evaluation';
const asked = (n: number) => `job=evaluation seed=${n} rollout=r${n} ask=0`;

/** A round of a kill in which everything is as it should be: r1 was in flight at the kill, r2 got half a JSON. */
function sound(): Evidence {
  const call = (rolloutId: string, seed: number, attempt: number, at: number, fault: string, last: ContainerLine[]) =>
    [
      { event: 'in', at, rolloutId, seed, attempt, concurrency: 1 },
      { event: 'plan', at, rolloutId, attempt, fault },
      ...last,
    ] satisfies ContainerLine[];
  const out = (rolloutId: string, seed: number, attempt: number, at: number): ContainerLine => ({
    ...{ event: 'out', at, rolloutId, seed, attempt },
    ...{ status: 200, finished: true },
  });
  const answer = (rolloutId: string, attempt: number, at: number, reward: number): ContainerLine => ({
    ...{ event: 'answer', at, rolloutId, attempt, reward },
  });
  const told = (seq: number, id: string, status: string, reward: number | null) => ({
    ...{ seq, type: 'eval.policy.seed.completed', key: `rollout:${id}`, message: id },
    data: { rollout_id: id, status, reward },
  });
  const events = [
    told(1, 'r0', 'succeeded', 1),
    told(2, 'r2', 'failed', null),
    told(3, 'r1', 'succeeded', 0.5),
    { seq: 4, type: 'eval.policy.job.completed', key: 'end', message: 'completed', data: {} },
  ];
  const seen = (): SeenEvent[] =>
    structuredClone(events.map(({ seq, type, message, data }) => ({ seq, type, message, data })));
  const row = (n: number, status: string, reward: number | null, completedAt: number, resent = 0) => ({
    ...{ id: `r${n}`, seed: n, status, reward, completedAt, resent, attempt: resent + 1, began: true },
    ...{ code: reward === null ? 'container_answer_invalid' : null, message: reward === null ? 'half' : null },
  });
  const rollouts = [row(0, 'succeeded', 1, 1_100), row(1, 'succeeded', 0.5, 20_100, 1), row(2, 'failed', null, 1_200)];
  const evaluation: JobEvidence = {
    ...{ name: job, id: 'evl_1', kind: 'evaluation', maxConcurrent: 2, seeds: [0, 1, 2], mayEnd: ['completed'] },
    ...{ outside: null, status: 'completed', errorCode: null, completedAt: end, eventSeq: 4, resent: 1 },
    ...{ workflow: 'COMPLETED', trapped: false, rollouts, frames: [], events, pages: seen() },
    calls: [
      {
        ...{ id: 'call_1', purpose: 'rollout', rolloutId: 'r0', key: asked(0) },
        ...{ httpStatus: 200, text: 'yes', createdAt: 1_050 },
      },
    ],
    streams: [{ reader: 'straight', events: seen(), cuts: 2, ended: true }],
    results: rollouts.map(({ id, seed, status, reward, message }) => ({
      ...{ traceId: id, seed, status, reward, error: message },
    })),
    traces: rollouts.map(({ id, status, reward, resent }) => ({
      ...{ id, status, reward, resent, calls: id === 'r0' ? ['call_1'] : [] },
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
  };
  return {
    ...{ kind: 'kill-worker', seed: 1, kills: [{ at: 5_000, what: 'worker', worker: true }], lastFaultAt: 60_000 },
    jobs: [evaluation],
    model: [
      { event: 'in', at: 1_040, job, key: asked(0), fault: 'good' },
      { event: 'out', at: 1_045, job, key: asked(0), fault: 'good', finished: true },
    ],
    ...{ memory: { worker: 200 }, died: [] },
  };
}

const first = (evidence: Evidence): JobEvidence => evidence.jobs[0]!;
const ins = (evidence: Evidence, rolloutId: string, attempt: number, at: number, fault = 'good') =>
  first(evidence).container.push(
    { event: 'in', at, rolloutId, seed: 0, attempt, concurrency: 1 },
    { event: 'plan', at, rolloutId, attempt, fault },
  );
/** A session with these frames. */
const framed = (evidence: Evidence, ...frames: string[][]) =>
  Object.assign(first(evidence), {
    kind: 'session',
    frames: frames.map((traces) => ({ traces, count: traces.length })),
  });
const bought = (evidence: Evidence, at: number) =>
  evidence.model.push({ event: 'in', at, job, key: asked(0), fault: 'good' });

/** What is done to the evidence, by the rule that must see it. */
const doctored: Record<string, ((evidence: Evidence) => unknown)[]> = {
  'events are 1..N, once, without gaps': [
    (e) => (first(e).events[2]!.seq = 5),
    (e) => (first(e).events[2]!.key = 'rollout:r0'),
    (e) => (first(e).eventSeq = 5),
  ],
  'every reader of the stream saw exactly the events': [
    (e) => first(e).streams[0]!.events.splice(1, 1),
    (e) => first(e).streams[0]!.events.splice(1, 0, first(e).streams[0]!.events[0]!),
    (e) => first(e).streams[0]!.events.push(first(e).streams[0]!.events[0]!),
    (e) => (first(e).streams[0]!.events[1]!.data = {}),
    (e) => (first(e).streams[0]!.ended = false),
    // An event that a reader was shown and that is gone.
    (e) => first(e).events.pop(),
  ],
  'the pages of JSON are exactly the events': [
    (e) => first(e).pages.pop(),
    (e) => (first(e).pages[0]!.message = 'other'),
  ],
  'each rollout has one outcome and one event of it': [
    (e) => first(e).events.splice(1, 1),
    (e) => first(e).events.push(first(e).events[0]!),
    (e) => (first(e).rollouts[0]!.reward = 0.9),
  ],
  'one terminal event, the last, says how the job ended': [
    (e) => (first(e).status = 'failed'),
    (e) => first(e).events.push(first(e).events[3]!),
    (e) => first(e).events.unshift(first(e).events.pop()!),
  ],
  'a job is terminal within 60 s of the last fault': [
    (e) => (first(e).completedAt = null),
    (e) => (e.lastFaultAt = end - 60_001),
  ],
  'a job ends as it may': [(e) => (first(e).mayEnd = ['cancelled'])],
  'row and workflow agree': [
    (e) => (first(e).workflow = 'RUNNING'),
    (e) => (first(e).workflow = 'TERMINATED'),
    (e) => Object.assign(first(e), { outside: 'terminate', workflow: 'TERMINATED', status: 'failed' }),
  ],
  'nothing is sent after the end': [(e) => ins(e, 'r9', 1, end + 2_001), (e) => bought(e, end + 2_001)],
  'no process of the service ends by itself': [(e) => e.died.push('worker (exit code 1)')],
  'nothing is lost: every seed has its row and every row its outcome': [
    (e) => first(e).rollouts.pop(),
    (e) => (first(e).rollouts[1]!.status = 'running'),
    (e) => (first(e).rollouts[1]!.status = 'cancelled'),
  ],
  'a rollout whose outcome is recorded is not sent again': [(e) => ins(e, 'r0', 2, 1_101)],
  'a rollout is sent again at most once for each kill': [
    (e) => ins(e, 'r1', 3, 20_010),
    (e) => Object.assign(first(e).rollouts[1]!, { attempt: 3, resent: 2 }),
    (e) => (first(e).rollouts[1]!.resent = 0),
    (e) => (first(e).rollouts[1]!.attempt = 1),
  ],
  'rollouts_resent is what the rows and the ledger say': [
    (e) => (first(e).resent = 2),
    (e) => {
      for (const row of first(e).rollouts) row.resent += 1;
      Object.assign(first(e), { resent: 4, maxConcurrent: 1 });
    },
  ],
  'max_concurrent holds, but for what a dead worker had in flight': [
    (e) => [7, 8, 9].forEach((n) => ins(e, `r${n}`, 1, 30_000)),
  ],
  'a recorded reward is one that the container gave for this rollout': [
    (e) => (first(e).rollouts[1]!.reward = 0.6),
    (e) => (first(e).container = first(e).container.filter(({ event }) => event !== 'answer')),
  ],
  'each finished rollout of a session is in one sensor frame': [
    (e) => framed(e, ['r0', 'r2']),
    (e) => framed(e, ['r0', 'r2'], ['r1', 'r2']),
    (e) => {
      framed(e, ['r0'], ['r1', 'r2']);
      first(e).rollouts[1]!.status = 'cancelled';
    },
    (e) => first(e).frames.push({ traces: [], count: 1 }),
  ],
  'results, archive and database agree': [
    (e) => first(e).results!.pop(),
    (e) => (first(e).results![0]!.reward = 0.9),
    (e) => first(e).traces.pop(),
    (e) => (first(e).traces[0]!.calls = []),
    (e) => (first(e).traces[1]!.resent = 0),
  ],
  'a model answer that is recorded is not bought again': [
    (e) => bought(e, 1_050 + 251),
    // The second answer is on record, too.
    (e) => {
      bought(e, 20_010);
      first(e).calls.push({ ...first(e).calls[0]!, id: 'call_2', createdAt: 20_015 });
    },
  ],
  'a model call is bought again at most once for each kill': [(e) => [1_041, 1_042].forEach((at) => bought(e, at))],
  'a whole answer that the container got is recorded': [
    (e) => (first(e).calls[0]!.text = 'no'),
    (e) => (first(e).calls[0]!.httpStatus = 502),
  ],
  'what the model answered wrongly is recorded as no answer': [(e) => (e.model[0]!.fault = 'half a JSON')],
  'the row is what follows from what the container answered': [
    (e) => (first(e).rollouts[2]!.status = 'succeeded'),
    (e) => (first(e).rollouts[2]!.code = 'reward_invalid'),
    (e) => (first(e).rollouts[0]!.status = 'failed'),
  ],
  'only what another try may mend is tried again, and often enough': [
    (e) => ins(e, 'r2', 2, 1_160, 'half a JSON'),
    (e) => planOf(e, 'r2', 'hang'),
  ],
  'Retry-After is kept': [
    (e) => {
      planOf(e, 'r2', '429 Retry-After seconds');
      ins(e, 'r2', 2, 1_151 + 900);
    },
  ],
  'redirects are not followed': [(e) => (first(e).trapped = true)],
  'memory is bounded': [(e) => (e.memory['worker'] = 2_000)],
};

function planOf(evidence: Evidence, rolloutId: string, fault: string): void {
  for (const line of first(evidence).container) {
    if (line.event === 'plan' && line.rolloutId === rolloutId) line.fault = fault;
  }
}

test('evidence that is sound passes every rule', () => {
  expect(check(sound())).toEqual([]);
});

test('frames that have each rollout once are no contradiction', () => {
  const evidence = sound();
  framed(evidence, ['r0'], ['r1', 'r2']);
  const rule = rules.find(({ name }) => name === 'each finished rollout of a session is in one sensor frame')!;
  expect(rule.broken(evidence)).toEqual([]);
});

describe('a question that is asked of the proposer for two candidates', () => {
  const answered = 'a model answer that is recorded is not bought again';
  const once = 'a model call is bought again at most once for each kill';

  /** Candidate 1 got an answer that is recorded, candidate 2 later one that is good for nothing. */
  function askedTwice(failed: number): Evidence {
    const evidence = sound();
    const line = { event: 'in', job, key: 'hash', fault: 'no choices' } as const;
    evidence.kills = [];
    evidence.model.push({ ...line, at: 1_000, fault: 'good' }, { ...line, at: 5_000 });
    const { calls, events } = first(evidence);
    calls.push({ ...calls[0]!, id: 'prop_1', purpose: 'proposer', rolloutId: null, key: 'hash', createdAt: 1_040 });
    const event = { seq: 5, type: 'proposal_failed', key: 'proposal_failed:2', message: '', data: {} };
    events.push(...Array.from({ length: failed }, () => event));
    return evidence;
  }

  test.each([answered, once])('is no contradiction of "%s" when the second proposal failed', (name) => {
    const rule = rules.find((one) => one.name === name)!;
    expect(rule.broken(askedTwice(1))).toEqual([]);
  });

  test.each([answered, once])('contradicts "%s" when none failed', (name) => {
    const rule = rules.find((one) => one.name === name)!;
    expect(rule.broken(askedTwice(0))).toHaveLength(1);
  });
});

test('what an operator does to a workflow is no contradiction', () => {
  const evidence = sound();
  const ended = first(evidence);
  Object.assign(ended, { outside: 'terminate', workflow: 'TERMINATED', status: 'failed', mayEnd: ['failed'] });
  Object.assign(ended, { errorCode: 'workflow_terminated' });
  for (const list of [ended.events, ended.pages, ended.streams[0]!.events])
    list.at(-1)!.type = 'eval.policy.job.failed';
  expect(check(evidence)).toEqual([]);
});

describe.each(rules.map((rule) => [rule.name, rule] as const))('%s', (name, rule) => {
  test('sees what breaks it', () => {
    const cases = doctored[name] ?? [];
    expect(cases.length).toBeGreaterThan(0);
    for (const doctor of cases) {
      const evidence = sound();
      doctor(evidence);
      expect(rule.broken(evidence)).not.toEqual([]);
    }
  });
});
