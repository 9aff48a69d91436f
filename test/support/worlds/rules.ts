import {
  answers,
  startFakeContainer,
  type Behaviour,
  type FakeContainer,
  type ReceivedRollout,
} from '../fakes/container.js';
import { startFakeModel, type FakeModel, type ModelRequest } from '../fakes/model.js';
import { currentOf, partOf } from './asked.js';

/**
 * A world with a known optimum. On seed s a prompt with `rule-k`, k = s mod `rules`, scores 1, else
 * 0 with feedback that names the rule. The proposer adds the first missing rule of the feedback:
 * an accepted child has one rule more than its parent, and the best prompt has all rules.
 */
export interface RulesWorld {
  container: FakeContainer;
  model: FakeModel;
  /** Settings that make the proposer the provider `fake`. */
  env: Record<string, string>;
  /** Fields of a job on this world; without preflight, so that every call is the search's. */
  job: { container_url: string; policy: { provider: string; model: string }; preflight: false };
  rules: number;
  score(prompt: string, seed: number): number;
  /** The score of a call's prompt. */
  scoreOf(call: ReceivedRollout): number;
  /** The container's answer: the score or a given reward, with the seed's rule as feedback. */
  answer(call: ReceivedRollout, reward?: number): Behaviour;
  /** Restores the default behaviour of container and proposer. */
  reset(): void;
  close(): Promise<void>;
}

export const baseline = 'Answer well.';

/** The prompt of a call. */
export function promptOf({ body }: Pick<ReceivedRollout, 'body'>): string {
  return body.policy.config.prompt_template?.sections[0]?.content ?? '';
}

export async function startRulesWorld(rules = 4): Promise<RulesWorld> {
  const container = await startFakeContainer({ prompt: [{ role: 'system', content: baseline }] });
  const model = await startFakeModel();
  const ruleOf = (seed: number) => `rule-${seed % rules}.`;
  const world: RulesWorld = {
    container,
    model,
    env: { RATCHET_PROVIDERS: 'fake', FAKE_BASE_URL: model.url },
    job: { container_url: container.url, policy: { provider: 'fake', model: 'any' }, preflight: false },
    rules,
    score: (prompt, seed) => (prompt.includes(ruleOf(seed)) ? 1 : 0),
    scoreOf: (call) => world.score(promptOf(call), call.seed),
    answer: (call, reward = world.scoreOf(call)) => answers.reward(reward, `needs ${ruleOf(call.seed)}`),
    reset() {
      container.behave((call) => world.answer(call));
      model.reply((request) => ({ text: propose(request) }));
    },
    async close() {
      await container.close();
      await model.close();
    },
  };
  world.reset();
  return world;
}

/** The proposer's answer; for prompts of several parts, the line for the requested part. */
export function propose({ body }: Pick<ModelRequest, 'body'>): string {
  const shown = body.messages.map((message) => message.content).join('\n');
  const [part, current] = [partOf(body.messages), currentOf(body.messages)];
  const missing = [...shown.matchAll(/(?:the (\w+) )?needs (rule-\d+\.)/g)].find(
    ([, of, rule]) => (part === undefined || of === undefined || of === part) && !current.includes(rule!),
  )?.[2];
  return `Here is a better one.\n\`\`\`\n${current}\n${missing ?? 'Nothing is missing.'}\n\`\`\``;
}
