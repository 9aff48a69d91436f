import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { end, slots, type Job, type Model } from '../model.js';
import { assertIds, pathOf, settle } from '../observe.js';
import { isTerminal } from '../../../src/core/jobs/status.js';
import { take } from '../verbs.js';
import type { Reply, World } from '../world.js';
import { mayCommand, onJob } from './command.js';

/** The rollout of a reward; `held`: the container has not answered it yet. */
type Target = 'awaited' | 'held' | 'ended' | 'unknown' | 'none';
type Repeat = 'once' | 'then the same' | 'then another' | 'twice at once';

interface RewardArgs {
  slot: number;
  target: Target;
  repeat: Repeat;
  reward: number;
  stop: boolean;
  byCorrelation: boolean;
}

const args = fc.record<RewardArgs>({
  slot: slots,
  target: fc.constantFrom('awaited', 'awaited', 'awaited', 'held', 'ended', 'unknown', 'none'),
  repeat: fc.constantFrom('once', 'once', 'then the same', 'then another', 'twice at once'),
  reward: fc.constantFrom(0, 0.25, 0.5, 1),
  stop: fc.nat(5).map((n) => n === 5),
  byCorrelation: fc.boolean(),
});

/** A reward for any rollout; repeated or contradicted; with `stop` on the first one. */
export const reward = args.map((given) =>
  onJob(nameOf(given), given.slot, { may: mayCommand, run: (world, model, job) => run(world, model, job, given) }),
);

function nameOf({ slot, target, repeat, reward, stop, byCorrelation }: RewardArgs): string {
  return `reward(${slot}, ${target}, ${reward}, ${repeat}${stop ? ', stop' : ''}${byCorrelation ? ', by correlation id' : ''})`;
}

async function run(world: World, model: Model, job: Job, args: RewardArgs): Promise<void> {
  const { repeat, reward, stop, byCorrelation } = args;
  if (job.dying) await settle(world, job, model.workerLives);
  if (job.dying) return;
  const rollout = rolloutFor(world, job, args);
  const post = (reward: number, { stop, key }: { stop?: boolean; key?: string } = {}): Promise<Reply> => {
    const named = rollout === null ? {} : { [byCorrelation ? 'correlation_id' : 'rollout_id']: rollout };
    const body = { reward_info: { outcome_reward: reward }, ...named, ...(stop ? { stop } : {}) };
    return world.call('POST', `${pathOf(job)}/reward`, body, key);
  };
  if (repeat === 'twice at once' && !mayEndJob(job, rollout)) {
    // Without a rollout only the key identifies a repetition.
    if (rollout === null) return underOneKey(job, reward, (key) => post(reward, { key }));
    const replies = await Promise.all([post(reward), post(reward)]);
    for (const reply of replies) takeReward(job, rollout, reward, reply);
  } else {
    const reply = await post(reward, { stop });
    if (stop && dueOf(job, rollout, reward) !== 409) {
      assert.equal(reply.body['counted'], true);
      note(job, rollout, reward);
      await take(world, model, job, 'stop', reply);
    } else {
      takeReward(job, rollout, reward, reply);
    }
  }
  // Wait for the effects of the first one; otherwise the second may arrive while the job ends.
  if (job.stirred) await settle(world, job, model.workerLives);
  if (repeat === 'then the same') takeReward(job, rollout, reward, await post(reward));
  if (repeat === 'then another') takeReward(job, rollout, reward + 1, await post(reward + 1));
}

async function underOneKey(job: Job, reward: number, post: (key: string) => Promise<Reply>): Promise<void> {
  const key = randomUUID();
  const first = await post(key);
  takeReward(job, null, reward, first);
  const second = await post(key);
  assert.deepEqual([second.code, second.body], [first.code, first.body]);
  assert.equal(second.headers.get('idempotency-replayed'), 'true');
}

function rolloutFor(world: World, job: Job, { target, slot, byCorrelation }: RewardArgs): string | null {
  switch (target) {
    case 'awaited':
      return [...job.awaited][0] ?? null;
    case 'held':
      return world.container.held(job.id)[0] ?? null;
    case 'ended':
      return [...job.outcomes.keys()][0] ?? null;
    case 'unknown':
      // By rollout id: an unknown correlation id belongs to the caller's own traffic.
      return byCorrelation ? null : `unknown-${slot}`;
    case 'none':
      return null;
  }
}

/** Expected answer to a reward, by table and inbox: counted, a no-op, or 409. */
function dueOf(job: Job, rollout: string | null, reward: number): 'new' | 'known' | 409 {
  if (isTerminal(job.state.status)) return 409;
  if (rollout === null) return 'new';
  const inInbox = job.inbox.find((entry) => entry.rollout === rollout && entry.counted);
  const known = inInbox?.reward ?? job.outcomes.get(rollout);
  if (known === undefined) return 'new';
  return known === reward ? 'known' : 409;
}

/** Whether this reward may end the job: a concurrent one may then find it closed. */
const mayEndJob = (job: Job, rollout: string | null): boolean =>
  rollout !== null &&
  job.awaited.has(rollout) &&
  (job.kind === 'session' || job.outcomes.size + 1 === job.seeds.length);

function takeReward(job: Job, rollout: string | null, reward: number, { code, body }: Reply): void {
  const due = dueOf(job, rollout, reward);
  assert.equal(code, due === 409 ? 409 : 200, `reward for ${rollout} of ${job.id}: ${JSON.stringify(body)}`);
  if (due === 409) {
    assert.equal(body['current_status'], job.state.status);
  } else {
    assertIds(job, body);
    assert.equal(body['status'], job.state.status);
    assert.equal(body['counted'], true);
    assert.equal(body['rollout_id'], rollout);
  }
  note(job, rollout, reward);
}

/** Adds a reward to the model's inbox, and settles the rollout that waits for it. */
function note(job: Job, rollout: string | null, reward: number): void {
  const closed = isTerminal(job.state.status);
  const due = dueOf(job, rollout, reward);
  const kept = rollout !== null && job.inbox.some((entry) => entry.rollout === rollout);
  // A closed job keeps a reward only for a rollout that it has.
  const isKept = closed ? rollout !== null && !rollout.startsWith('unknown-') : due === 'new';
  if (isKept && !kept) job.inbox.push({ rollout, reward, counted: !closed });
  if (due === 'new' && rollout !== null && job.awaited.has(rollout)) end(job, rollout, reward);
}
