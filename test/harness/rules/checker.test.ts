import { describe, expect, test } from '@jest/globals';
import { check, rules } from './checker.js';
import type { DeploymentEvidence, Evidence, JobEvidence } from '../evidence/evidence.js';
import { asked, end, sound } from '../evidence/sound-round.js';

// Every rule must detect doctored evidence of its own violation.

const job = 'evaluation';

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
  first(evidence).bought.push({ event: 'in', at, job, key: asked, fault: 'good' });
/** The graph job, the two deployments and the client's requests of the sound round. */
const graph = ({ jobs }: Evidence): JobEvidence => jobs[1]!;
const old = ({ jobs }: Evidence): DeploymentEvidence => jobs[2]!.deployment!;
const renewed = ({ jobs }: Evidence): DeploymentEvidence => jobs[3]!.deployment!;
/** The gate has an incumbent, and ran its candidate twice, with 0.9 and 0.7. */
function repeated(
  { jobs }: Evidence,
  { runs = 'new', incumbentReward = 0.5 }: { runs?: string; incumbentReward?: number | null },
): void {
  const { deployment } = jobs[3]!;
  const gate = jobs[4]!;
  const evaluation = (id: string, reward: number | null) => {
    const status = reward === null ? 'failed' : 'succeeded';
    jobs.push({ ...gate, id, rollouts: [{ ...gate.rollouts[0]!, id: `${id}_0`, reward, status }] });
  };
  evaluation('evl_3', incumbentReward);
  evaluation('evl_4', 0.7);
  deployment!.gate!.candidate.reward = 0.8;
  deployment!.gate!.incumbent = { jobId: 'evl_3', reward: incumbentReward };
  const repeats = { side: 'candidate', candidate: 'evl_2', incumbent: 'evl_3' } as const;
  deployment!.evaluations.push({ id: 'evl_3', runs: 'old', repeats: null }, { id: 'evl_4', runs, repeats });
}
const boughtByGraph = (evidence: Evidence, key: string, at: number) =>
  graph(evidence).bought.push({ event: 'in', at, job: 'graph', key, fault: 'good' });

/** Doctored evidence by the rule that must detect it. */
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
    // An event that a reader received and that is missing.
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
  'each finished rollout of a search is in one sensor frame': [
    (e) => framed(e, ['r0', 'r2']),
    (e) => framed(e, ['r0', 'r2'], ['r1', 'r2']),
    (e) => {
      framed(e, ['r0'], ['r1', 'r2']);
      first(e).rollouts[1]!.status = 'cancelled';
    },
    (e) => first(e).frames.push({ traces: [], count: 1 }),
    (e) => (graph(e).frames = []),
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
    // The second answer is recorded, too.
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
  'what the model answered wrongly is recorded as no answer': [(e) => (first(e).bought[0]!.fault = 'half a JSON')],
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
  'a model call of the service itself is bought once, but for what was in flight when its worker was killed': [
    // One recorded call, and one that was lost and repeated.
    (e) => boughtByGraph(e, 'zero', 20_000),
    (e) => boughtByGraph(e, 'one', 20_005),
    // Recorded just before the kill.
    (e) => {
      Object.assign(e.kills[0]!, { at: 1_100, goneAt: 5_100 });
      boughtByGraph(e, 'zero', 20_000);
    },
    (e) => (e.kills[0]!.worker = false),
    (e) => Object.assign(e.kills[0]!, { at: 4_000, goneAt: 4_100 }),
  ],
  'what a graph gave is on record, and worth its reward': [
    (e) => (graph(e).rollouts[0]!.output = 'rule-1'),
    (e) => (graph(e).rollouts[1]!.reward = 1),
    (e) => (graph(e).calls[0]!.text = 'unknown'),
    (e) => (graph(e).calls[0]!.rolloutId = 'g1'),
    (e) => (graph(e).calls[0]!.purpose = 'judge'),
  ],
  'a rollout of a graph fails only where a model has': [(e) => (graph(e).rollouts[1]!.status = 'failed')],
  'a deployment is ready when it has taken its name, and the last of them is live': [
    (e) => (old(e).status = 'building'),
    (e) => (e.jobs[2]!.status = 'failed'),
    (e) => (old(e).liveAt = null),
    (e) => (old(e).live = true),
    (e) => (renewed(e).live = false),
    (e) => (old(e).liveAt = 30_000),
  ],
  'a gate has each of what it compares run once': [
    (e) => renewed(e).evaluations.push({ id: 'evl_3', runs: 'new', repeats: null }),
    (e) => renewed(e).sent.push('e9'),
    (e) => (renewed(e).evaluations = []),
    (e) => repeated(e, { runs: 'old' }),
    (e) => repeated(e, { incumbentReward: 0.9 }),
    (e) => repeated(e, { incumbentReward: null }),
  ],
  'a gate says what its evaluations have come to, and lets nothing else through': [
    (e) => (renewed(e).gate!.candidate.reward = 1),
    (e) => (renewed(e).gate!.candidate.jobId = 'evl_9'),
    (e) => (renewed(e).gate!.passed = false),
    (e) => (e.jobs[4]!.rollouts[0]!.status = 'failed'),
  ],
  'who asks a name is answered by one deployment, with what that serves': [
    (e) => (e.asks[1]!.deploymentId = 'dep_2'),
    (e) => (e.asks[1]!.deploymentId = 'dep_9'),
    (e) => (e.asks[1]!.snapshotId = 'snap_new'),
    (e) => (e.asks[1]!.text = 'I am new'),
    (e) => (e.asks[1]!.text = ''),
    (e) => (old(e).liveAt = null),
    (e) => (old(e).prompt = null),
  ],
  'a name is served by one deployment after the other, in the end by the last': [
    (e) => e.asks.splice(1, 0, { ...e.asks[3]! }),
    (e) => e.asks.push({ ...e.asks[1]!, at: end + 20 }),
    (e) => (e.asks = [{ ...e.asks[1]!, at: end + 20 }]),
  ],
  'a name answers once it is served, but while what answers is down or its model at fault': [
    (e) => (e.asks[0]!.status = 500),
    (e) => (e.asks[0]!.status = 403),
    (e) => (e.asks[0]!.at = end),
    (e) => (e.asks[2]!.status = 404),
    (e) => (e.asks[2]!.status = 409),
    (e) => (e.asks[2]!.at = 8_001),
    (e) => (e.asks[2]!.endedAt = 4_999),
    (e) => (e.kills[0]!.serving = false),
    (e) => (e.asks[3]!.text = null),
  ],
  'a deployment counts every answer, and no request that was not made': [
    // One request is in flight at the kill, with an unknown deployment.
    (e) => (old(e).counted.requests = 3),
    (e) => (renewed(e).counted.requests = 0),
    (e) => (renewed(e).counted = { requests: 2, errors: 1, aborted: 1 }),
  ],
  'a create makes one job, however often it is repeated with its key': [
    (e) => first(e).answered.push('evl_9'),
    (e) => e.found.push('evl_9'),
  ],
  'a job whose create was answered exists': [(e) => e.found.pop()],
  'memory is bounded': [(e) => (e.memory['worker'] = 2_000)],
};

function planOf(evidence: Evidence, rolloutId: string, fault: string): void {
  for (const line of first(evidence).container) {
    if (line.event === 'plan' && line.rolloutId === rolloutId) line.fault = fault;
  }
}

test('sound evidence passes every rule', () => {
  expect(check(sound())).toEqual([]);
});

test('accepts 409 for a name whose first deployment is being built', () => {
  const evidence = sound();
  evidence.asks[0]!.status = 409;
  expect(check(evidence)).toEqual([]);
});

test('accepts frames that contain each rollout once', () => {
  const evidence = sound();
  framed(evidence, ['r0'], ['r1', 'r2']);
  const rule = rules.find(({ name }) => name === 'each finished rollout of a search is in one sensor frame')!;
  expect(rule.broken(evidence)).toEqual([]);
});

describe('one proposer request shared by two candidates', () => {
  const answered = 'a model answer that is recorded is not bought again';
  const once = 'a model call is bought again at most once for each kill';

  /** Candidate 1 got a recorded answer; candidate 2 got a later, unusable one. */
  function askedTwice(failed: number): Evidence {
    const evidence = sound();
    const line = { event: 'in', job, key: 'hash', fault: 'no choices' } as const;
    evidence.kills = [];
    first(evidence).bought.push({ ...line, at: 1_000, fault: 'good' }, { ...line, at: 5_000 });
    const { calls, events } = first(evidence);
    calls.push({ ...calls[0]!, id: 'prop_1', purpose: 'proposer', rolloutId: null, key: 'hash', createdAt: 1_040 });
    const event = { seq: 5, type: 'proposal_failed', key: 'proposal_failed:2', message: '', data: {} };
    events.push(...Array.from({ length: failed }, () => event));
    return evidence;
  }

  test.each([answered, once])('does not violate "%s" when the second proposal failed', (name) => {
    const rule = rules.find((candidate) => candidate.name === name)!;
    expect(rule.broken(askedTwice(1))).toEqual([]);
  });

  test.each([answered, once])('violates "%s" when none failed', (name) => {
    const rule = rules.find((candidate) => candidate.name === name)!;
    expect(rule.broken(askedTwice(0))).toHaveLength(1);
  });
});

describe('a client request without an answer', () => {
  const rule = rules.find(({ name }) => name.startsWith('a name answers once it is served'))!;
  /** Request 3 gets 502; the model misbehaved for its prompt. */
  const refused = (key: string) => {
    const evidence = sound();
    Object.assign(evidence.asks[3]!, { status: 502, text: null });
    evidence.model.push({ event: 'in', at: 30_010, job: 'new', key, fault: '500' });
    return rule.broken(evidence);
  };

  test.each(['client=3', 'client=3 of a hash'])('is no violation when the model misbehaved (%s)', (key) =>
    expect(refused(key)).toEqual([]),
  );
  test('is no violation when the model answered without a text', () => {
    const evidence = sound();
    evidence.asks[3]!.text = '';
    evidence.model.push({ event: 'in', at: 30_010, job: 'new', key: 'client=3', fault: 'no choices' });
    expect(check(evidence)).toEqual([]);
  });
  test.each(['client=4', 'client=33'])('is a violation when the model misbehaved for another request (%s)', (key) =>
    expect(refused(key)).toHaveLength(1),
  );
});

test('accepts a refused gate and a deployment that ends before its gate', () => {
  for (const judged of [true, false]) {
    const evidence = sound();
    const failed = structuredClone(evidence.jobs[3]!);
    Object.assign(failed, { id: 'dep_3', status: 'failed', workflow: 'FAILED', mayEnd: ['failed'] });
    const { gate } = failed.deployment!;
    Object.assign(failed.deployment!, {
      status: 'failed',
      live: false,
      liveAt: null,
      gate: judged ? { ...gate, passed: false } : null,
    });
    failed.deployment!.counted.requests = 0;
    for (const list of [failed.events, failed.pages, failed.streams[0]!.events]) list.at(-1)!.type = 'job_failed';
    evidence.jobs.push(failed);
    evidence.found.push(failed.id);
    expect(check(evidence)).toEqual([]);
  }
});

test.each([
  ['workflow_terminated', 0],
  ['deployment_failed', 1],
])('a deployment that failed with %s after its gate passed has %i violations', (errorCode, count) => {
  const evidence = sound();
  Object.assign(evidence.jobs[3]!, { errorCode, status: 'failed' });
  Object.assign(renewed(evidence), { status: 'failed', live: false, liveAt: null });
  const rule = rules.find(({ name }) => name.startsWith('a gate says what'))!;
  expect(rule.broken(evidence)).toHaveLength(count);
});

test('accepts a gate that compares with an incumbent of the same prompt, and runs that once', () => {
  const evidence = sound();
  const { deployment } = evidence.jobs[3]!;
  deployment!.gate!.incumbent = { jobId: 'evl_3', reward: 0.9 };
  deployment!.evaluations.push({ id: 'evl_3', runs: 'new', repeats: null });
  const rule = rules.find(({ name }) => name === 'a gate has each of what it compares run once')!;
  expect(rule.broken(evidence)).toEqual([]);
  deployment!.evaluations.push({ id: 'evl_4', runs: 'new', repeats: null });
  expect(rule.broken(evidence)).toHaveLength(1);
});

test('accepts a second run of what differs, and counts its rewards with the first ones', () => {
  const evidence = sound();
  repeated(evidence, {});
  const [once, says] = ['a gate has each of', 'a gate says what'].map((begin) =>
    rules.find(({ name }) => name.startsWith(begin)),
  );
  expect([once!.broken(evidence), says!.broken(evidence)]).toEqual([[], []]);
  renewed(evidence).gate!.candidate.reward = 0.9;
  expect(says!.broken(evidence)).toHaveLength(1);
});

test('accepts operator actions', () => {
  const evidence = sound();
  const ended = first(evidence);
  Object.assign(ended, { outside: 'terminate', workflow: 'TERMINATED', status: 'failed', mayEnd: ['failed'] });
  Object.assign(ended, { errorCode: 'workflow_terminated' });
  for (const list of [ended.events, ended.pages, ended.streams[0]!.events])
    list.at(-1)!.type = 'eval.policy.job.failed';
  expect(check(evidence)).toEqual([]);
});

describe.each(rules.map((rule) => [rule.name, rule] as const))('%s', (name, rule) => {
  test('detects violations', () => {
    const cases = doctored[name] ?? [];
    expect(cases.length).toBeGreaterThan(0);
    for (const doctor of cases) {
      const evidence = sound();
      doctor(evidence);
      expect(rule.broken(evidence)).not.toEqual([]);
    }
  });
});
