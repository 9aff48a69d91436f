import {
  answers,
  startFakeContainer,
  type Behaviour,
  type FakeContainer,
  type ReceivedRollout,
} from '../fakes/container.js';
import { startFakeModel, type FakeModel, type ModelRequest } from '../fakes/model.js';

/**
 * A world with a known optimum. Seed s needs the rule s mod `rules`; a prompt with the line
 * `rule-k` scores 1, else 0 with feedback that names the rule. The proposer adds the first rule of
 * the feedback, so each accepted child has one rule more than its parent, and the best prompt has
 * all of them.
 */
export interface RulesWorld {
  container: FakeContainer;
  model: FakeModel;
  /** Settings under which the service knows the proposer as the provider `fake`. */
  env: Record<string, string>;
  /** What a job on this world says: its container and its model. */
  job: { container_url: string; policy: { provider: string; model: string } };
  rules: number;
  score(prompt: string, seed: number): number;
  /** The score of the prompt that a call carries. */
  scoreOf(call: ReceivedRollout): number;
  /** The container's answer: the score or another reward, and the rule of the seed as feedback. */
  answer(call: ReceivedRollout, reward?: number): Behaviour;
  /** Container and proposer answer by the rules from now on, as at the beginning. */
  reset(): void;
  close(): Promise<void>;
}

export const baseline = 'Answer well.';

/** The prompt that a call is to be answered with. */
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
    job: { container_url: container.url, policy: { provider: 'fake', model: 'any' } },
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
  const part = /It is the part "(\w+)"/.exec(shown)?.[1];
  const current = /```\n([\s\S]*?)\n```/.exec(shown)?.[1] ?? '';
  const missing = [...shown.matchAll(/(?:the (\w+) )?needs (rule-\d+\.)/g)].find(
    ([, of, rule]) => (part === undefined || of === undefined || of === part) && !current.includes(rule!),
  )?.[2];
  return `Here is a better one.\n\`\`\`\n${current}\n${missing ?? 'Nothing is missing.'}\n\`\`\``;
}
