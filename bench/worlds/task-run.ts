/**
 * A run of a world with a task model: container, task model and proposer, with the routes `inputs`,
 * `score`, `calls`, `last` and `truth` besides those of every run.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Entry, RunSetup, TaskSetup } from './client.js';
import type { ChatMessage } from './task-texts.js';
import { openTaskWorld, taskKinds } from './tasks.js';
import { instances } from './topics.js';

export interface ServedRun {
  /** null: unknown path. */
  serve(what: string, body: unknown): unknown;
  /** An answer of the task model (`call`) or the proposer. */
  complete(kind: 'call' | 'proposal', messages: readonly ChatMessage[]): Promise<string>;
}

interface RolloutBody {
  rollout_id: string;
  env: { seed: number };
  policy: {
    config: {
      model?: string;
      inference_url: string;
      inference_api_key?: string;
      prompt_template?: { sections: ChatMessage[] };
    };
  };
}

export function isTaskSetup(setup: RunSetup | TaskSetup): setup is TaskSetup {
  return taskKinds.some((kind) => kind === setup.kind);
}

const now = () => performance.timeOrigin + performance.now();

export function createTaskRun({ kind, world: seed, rolloutMs, proposerMs, feedback, labels }: TaskSetup): ServedRun {
  const world = openTaskWorld(kind, seed);
  const ledger: Entry[] = [];
  let last: readonly ChatMessage[] = [];
  /** By rollout id: a repeated request gets the same answer. */
  const answered = new Map<string, Promise<unknown>>();

  async function run(body: RolloutBody): Promise<unknown> {
    const startedAt = now();
    const { env, policy } = body;
    const sections = policy.config.prompt_template?.sections ?? [];
    const system = sections.filter(({ role }) => role === 'system').map(({ content }) => content);
    const answer = await ask(policy.config, [
      { role: 'system', content: system.length > 0 ? system.join('\n\n') : world.baseline },
      { role: 'user', content: world.input(env.seed) },
    ]);
    const judged = world.score(env.seed, answer);
    const lines = [
      ...(feedback ? [judged.feedback] : []),
      ...(labels ? [`Expected: ${world.expected(env.seed)}`] : []),
    ];
    ledger.push({ kind: 'rollout', startedAt, endedAt: now() });
    const details = lines.length > 0 && { details: { feedback: lines.join('\n') } };
    return { rollout_id: body.rollout_id, reward_info: { outcome_reward: judged.reward, ...details } };
  }

  function rollout(body: RolloutBody): Promise<unknown> {
    const { rollout_id: id } = body;
    const known = answered.get(id);
    if (known) return known;
    const fresh = run(body);
    answered.set(id, fresh);
    // A failed rollout may be retried.
    fresh.catch(() => answered.delete(id));
    return fresh;
  }

  return {
    async complete(kind, messages) {
      const startedAt = now();
      const ms = kind === 'call' ? rolloutMs : proposerMs;
      if (kind === 'call') last = messages;
      if (ms > 0) await delay(ms);
      const content = kind === 'call' ? world.answer(messages) : world.propose(messages);
      ledger.push({ kind: kind, startedAt, endedAt: now() });
      return content;
    },
    serve(what, body) {
      switch (what) {
        case 'GET health':
          return { status: 'healthy' };
        case 'GET task_info':
          return { initial_prompt: { messages: [{ role: 'system', content: world.baseline }] } };
        case 'POST rollout':
          return rollout(body as RolloutBody);
        case 'GET ledger':
          return ledger;
        case 'GET calls':
          return { calls: ledger.filter((entry) => entry.kind === 'call').length };
        case 'GET last':
          return { messages: last };
        case 'GET inputs':
          return Array.from({ length: instances }, (_, instance) => {
            return {
              seed: instance,
              input: world.input(instance),
              ...(labels && { expected: world.expected(instance) }),
            };
          });
        case 'POST score': {
          const { seed: instance, answer } = body as { seed: number; answer: string };
          return { reward: world.score(instance, answer).reward };
        }
        case 'POST truth':
          return { reward: world.trueReward((body as { messages: ChatMessage[] }).messages) };
        default:
          return null;
      }
    },
  };
}

async function ask(config: RolloutBody['policy']['config'], messages: readonly ChatMessage[]): Promise<string> {
  const url = `${config.inference_url.replace(/\/+$/, '')}/chat/completions`;
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${config.inference_api_key ?? ''}` },
    body: JSON.stringify({ model: config.model, messages }),
  });
  if (!response.ok) throw new Error(`the model answered ${response.status}: ${await response.text()}`);
  const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
  return choices[0]!.message.content;
}
