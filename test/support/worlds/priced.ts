import { setTimeout as delay } from 'node:timers/promises';
import { answers, startFakeContainer, type Behaviour, type FakeContainer } from '../fakes/container.js';
import { startFakeModel, type FakeModel, type ModelRequest } from '../fakes/model.js';
import { propose } from './rules.js';

/**
 * The rules world behind a priced model: containers call it through the proxy, its answers vary in
 * tokens within the request's limit, and the world adds up their cost at public prices.
 */
export interface PricedWorld {
  container: FakeContainer;
  model: FakeModel;
  /** The container's default behaviour. */
  ask: Behaviour;
  /** Settings that make the fake the provider `openai`. */
  env: Record<string, string>;
  /** Cost of a model's answers so far in dollars, delivered or not. */
  answeredUsd(model?: PricedModel): number;
  close(): Promise<void>;
}

/** Dollars per token, as published by OpenAI. */
const prices = {
  'gpt-4o-mini': { prompt: 0.15e-6, answer: 0.6e-6 },
  'gpt-4.1-nano': { prompt: 0.1e-6, answer: 0.4e-6 },
  'gpt-4.1-mini': { prompt: 0.4e-6, answer: 1.6e-6 },
};
export type PricedModel = keyof typeof prices;
const rules = 6;
const policy = { provider: 'openai', model: 'gpt-4o-mini' } satisfies { provider: string; model: PricedModel };
export const pricedPolicy = { ...policy, max_tokens: 1_000 };

export async function startPricedWorld(latencyMs = 20): Promise<PricedWorld> {
  const answered = { 'gpt-4o-mini': 0, 'gpt-4.1-nano': 0, 'gpt-4.1-mini': 0 } satisfies Record<PricedModel, number>;
  // Also answers after a refused model call; that reward must not count.
  const ask: Behaviour = async (call, response) => {
    const { inference_url: url, inference_api_key: key } = call.body.policy.config;
    const completion = await fetch(`${url}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({
        messages: [
          { role: 'system', content: 'Answer well.' },
          { role: 'user', content: `seed ${call.seed}` },
        ],
      }),
    });
    const rule = `rule-${call.seed % rules}.`;
    // Rewards stay below 1, so that only the cost budget ends a search.
    await answers.reward((await completion.text()).includes(rule) ? 0.9 : 0, `needs ${rule}`)(call, response);
  };
  const container = await startFakeContainer({
    prompt: [{ role: 'system', content: 'Answer well.' }],
    behave: () => ask,
  });
  const model = await startFakeModel(async (request) => {
    const usage = usageOf(request);
    await delay(latencyMs);
    const model = request.body.model as PricedModel;
    const { prompt, answer } = prices[model];
    answered[model] += usage.prompt_tokens * prompt + usage.completion_tokens * answer;
    return { text: textOf(request), usage };
  });
  return {
    container,
    model,
    ask,
    env: { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'sk-test' },
    answeredUsd: (model = policy.model) => answered[model],
    async close() {
      await container.close();
      await model.close();
    },
  };
}

const systemOf = ({ body }: ModelRequest) => body.messages.find(({ role }) => role === 'system')?.content;

/** The system prompt of a rollout, or an answer to a reflection. */
function textOf(request: ModelRequest): string {
  return systemOf(request) ?? propose(request);
}

/** The maximum of tokens in every third answer, fewer in others. */
function usageOf({ body, n }: ModelRequest) {
  const most = Number(body['max_tokens']);
  const completion_tokens = n % 3 === 0 ? most : Math.floor(most / (2 + (n % 7)));
  const prompt_tokens = Math.floor(JSON.stringify(body.messages).length / 2);
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}
