import { answers, startFakeContainer, type FakeContainer, type ReceivedRollout } from './fake-container.js';
import { startFakeModel, type FakeModel, type ModelRequest } from './fake-model.js';

/**
 * A world with a known optimum. Seed s needs the rule s mod `rules`; a prompt scores 1 on it when it has the line `rule-k`,
 * else 0 with the feedback that it is missing. The proposer (a fake model over HTTP) adds the first rule that the feedback
 * names. So each accepted child has one rule more than its parent, and the best prompt has all of them.
 */
export interface RulesWorld {
  container: FakeContainer;
  model: FakeModel;
  /** Settings under which the service knows the proposer as the provider `fake`. */
  env: Record<string, string>;
  rules: number;
  score(prompt: string, seed: number): number;
  close(): Promise<void>;
}

export const baseline = 'Answer well.';

export async function startRulesWorld(rules = 4): Promise<RulesWorld> {
  const score = (prompt: string, seed: number) => (prompt.includes(`rule-${seed % rules}.`) ? 1 : 0);
  const promptOf = (call: ReceivedRollout) => call.body.policy.config.prompt_template?.sections[0]?.content ?? '';
  const container = await startFakeContainer({
    prompt: [{ role: 'system', content: baseline }],
    behave: (call) => answers.reward(score(promptOf(call), call.seed), `needs rule-${call.seed % rules}.`),
  });
  const model = await startFakeModel((request) => ({ text: propose(request) }));
  return {
    container,
    model,
    env: { RATCHET_PROVIDERS: 'fake', FAKE_BASE_URL: model.url },
    rules,
    score,
    async close() {
      await container.close();
      await model.close();
    },
  };
}

/** What the proposer of this world answers to a reflection. */
export function propose({ body }: Pick<ModelRequest, 'body'>): string {
  const shown = body.messages.map((message) => message.content).join('\n');
  const current = /```\n([\s\S]*?)\n```/.exec(shown)?.[1] ?? '';
  const missing = [...shown.matchAll(/needs (rule-\d+\.)/g)]
    .map((match) => match[1]!)
    .find((rule) => !current.includes(rule));
  return `Here is a better one.\n\`\`\`\n${current}\n${missing ?? 'Nothing is missing.'}\n\`\`\``;
}
