import { createHash } from 'node:crypto';
import type { Breakpoints } from './breakpoints.js';
import { modelSays } from '../support/fakes/container-answers.js';
import { answers, startFakeContainer, type Behaviour, type ReceivedRollout } from '../support/fakes/container.js';
import { startFakeModel, type ModelRequest } from '../support/fakes/model.js';
import { range } from '../support/range.js';
import { baseline, propose } from '../support/worlds/rules.js';

// Session variants with different searches over one world: seed s needs the rule s mod `rules`, in
// the component named by the feedback. Answers depend on the request alone, so that the path does
// not depend on timing.

const rules = 8;
const parts = [
  { role: 'system', name: 'plan', content: 'Plan first.' },
  { role: 'user', name: 'answer', content: 'Then answer.' },
];
const whole = [{ role: 'system', content: baseline }];

/** The variant's own part of a session's request. */
interface SessionVariant {
  mipro?: Record<string, unknown>;
  gepa?: Record<string, unknown>;
  [field: string]: unknown;
}

/** The budget of the variant `tight`. */
export const tightRollouts = 70;

/** `noisy`, `asking`, `clumsy` and `demos` also change container, model and proposer. */
export const variants: Record<string, SessionVariant> = {
  plain: { initial_prompt: { messages: whole } },
  parts: { initial_prompt: { messages: parts } },
  all: { initial_prompt: { messages: parts }, gepa: { component_selection: 'all' }, target_reward: 0.9 },
  noisy: {
    initial_prompt: { messages: whole },
    gepa: { evaluation: { seeds: range(100, 6), heldout_seeds: range(200, 3), repeats: 2 } },
  },
  tight: { initial_prompt: { messages: whole }, budget: { max_rollouts: tightRollouts } },
  // The baseline comes from the container's own calls.
  asking: {},
  clumsy: { initial_prompt: { messages: whole }, gepa: { population_size: 4 } },
  patient: {
    initial_prompt: { messages: parts },
    gepa: { population_size: 2, generations: 4, merge: false },
    patience: 2,
  },
  // Its model knows the rule of every third seed, and those in its demonstrations.
  demos: {
    initial_prompt: { messages: whole },
    algorithm: 'mipro',
    mipro: { num_candidates: 5, num_trials: 10, minibatch_size: 3, max_bootstrapped_demos: 2, max_labeled_demos: 3 },
  },
};

/** The create request of a session; `name` is the variant's name with a suffix. */
export function request(name: string, containerUrl: string, maxConcurrent: number) {
  const { gepa, mipro, ...variant } = variants[variantOf(name)]!;
  const where = { train_seeds: range(0, 24), evaluation: { seeds: range(100, 8), heldout_seeds: range(200, 4) } };
  return {
    policy_optimization: {
      algorithm: 'gepa',
      container_url: containerUrl,
      env_name: name,
      policy: { provider: 'fake', model: name },
      // Every recorded call is a rollout's or the proposer's.
      preflight: false,
      ...(mipro
        ? { mipro: { ...where, ...mipro } }
        : { gepa: { population_size: 3, generations: 3, minibatch_size: 3, ...where, ...gepa } }),
      rng_seed: Object.keys(variants).indexOf(variantOf(name)),
      max_concurrent: maxConcurrent,
      rollout_timeout: 600,
      ...variant,
    },
  };
}

const variantOf = (name: string) => name.split('-')[0]!;
/** Whether a session of this name searches by MIPRO. */
export const isMipro = (name: string) => variants[variantOf(name)]!.mipro !== undefined;
const digest = (text: string) => createHash('sha256').update(text).digest();

/** The key of a proposer request, from its content. */
export const questionKey = (messages: readonly { content: unknown }[]) =>
  `question ${digest(JSON.stringify(messages.map(({ content }) => content)))
    .toString('hex')
    .slice(0, 16)}`;
/** The key of a rollout and of its model call. */
export const rolloutKey = (ordinal: number) => `rollout ${ordinal}`;
export const completionKey = (ordinal: number) => `completion ${ordinal}`;

/** Container and model of all sessions; every call passes the breakpoints. */
export async function startVariants(breakpoints: Breakpoints) {
  const container = await startFakeContainer({
    behave: (call) => async (_call, response) => {
      const session = call.body.env.env_name!;
      const ordinal = ordinalOf(call);
      const answer = await breakpoints.pass({ session, key: rolloutKey(ordinal), what: 'rollout', ordinal }, () =>
        work(session, call, ordinal),
      );
      await answer(call, response);
    },
  });
  const model = await startFakeModel((asked) => {
    const { model: session, messages } = asked.body;
    const user = messages.at(-1)!.content;
    const ordinal = /^rollout (\d+):/.exec(user)?.[1];
    return ordinal === undefined
      ? breakpoints.pass({ session, key: questionKey(messages), what: 'question', ordinal: null }, () => ({
          text: reflect(session, asked),
        }))
      : breakpoints.pass(
          { session, key: completionKey(Number(ordinal)), what: 'completion', ordinal: Number(ordinal) },
          () => ({ text: complete(session, messages) }),
        );
  });
  return {
    container,
    /** Settings that define the model as the provider `fake`. */
    env: { RATCHET_PROVIDERS: 'fake', FAKE_BASE_URL: model.url },
    async close() {
      await container.close();
      await model.close();
    },
  };
}

/** Scores the prompt that the proxy inserted, with its demonstrations. */
function complete(session: string, messages: ModelRequest['body']['messages']): string {
  const system = messages.find(({ role }) => role === 'system')!.content;
  if (variantOf(session) !== 'demos') return system;
  const seed = Number(/what of (\d+)\?$/.exec(messages.at(-1)!.content)![1]);
  const known = messages.filter(({ role }) => role !== 'user').map(({ content }) => content);
  return `${known.join(' ')}${seed % 3 === 0 ? ` rule-${seed % rules}.` : ''}`;
}

const ordinalOf = ({ rolloutId }: ReceivedRollout) => Number(rolloutId.split('_').at(-1));

/** Runs a rollout as the container does, and answers it. */
async function work(session: string, call: ReceivedRollout, ordinal: number): Promise<Behaviour> {
  const variant = variantOf(session);
  const rule = `rule-${call.seed % rules}.`;
  const part = parts[call.seed % parts.length]!.name;
  const sections = call.body.policy.config.prompt_template?.sections ?? [];
  let section = sections.find(({ name }) => name === part);
  const feedback = section ? `the ${part} needs ${rule}` : `needs ${rule}`;
  section ??= sections[0];
  let text = section?.content ?? '';
  if (variant === 'asking' || variant === 'demos') {
    const said = await modelSays(call, { system: baseline, user: `rollout ${ordinal}: what of ${call.seed}?` });
    if (!said.ok) return answers.status(500, said.text);
    text = said.text;
  }
  if (variant === 'clumsy' && ordinal % 29 === 17) return answers.status(502, 'out of luck');
  const score = text.includes(rule) ? 1 : 0;
  const luck = digest(`${ordinal}`)[0]! % 5;
  if (variant === 'demos') return answers.reward(score, feedback, { expected: rule });
  return answers.reward(variant === 'noisy' ? 0.25 + score / 2 + (luck - 2) / 16 : score, feedback);
}

/** The proposer's answer; a clumsy one first omits the fence or repeats its parent. */
function reflect(session: string, asked: ModelRequest): string {
  const { messages } = asked.body;
  const luck = digest(messages[0]!.content)[0]! % 4;
  if (variantOf(session) === 'clumsy' && luck === 0 && messages.length === 1) return 'Add what the feedback says.';
  if (variantOf(session) === 'clumsy' && luck === 1) return '```\nAnswer well.\n```';
  return propose(asked);
}
