import { setTimeout as delay } from 'node:timers/promises';
import { answers, startFakeContainer, type Behaviour, type FakeContainer } from '../fakes/container.js';
import { startFakeModel, type FakeModel, type ModelRequest } from '../fakes/model.js';
import { propose } from './rules.js';

/**
 * The rules world behind a priced model: containers call it through the proxy, it returns any
 * number of tokens within the request's limit, and its ledger adds up their cost at the model's
 * public price.
 */
export interface PricedWorld {
  container: FakeContainer;
  model: FakeModel;
  /** How the container answers as long as nobody has it behave otherwise. */
  ask: Behaviour;
  /** Settings under which the service takes the fake for OpenAI. */
  env: Record<string, string>;
  /** Dollars of all that a model answered so far, whether or not anybody was there to take it. */
  answeredUsd(model?: PricedModel): number;
  close(): Promise<void>;
}

/** Dollars a token, as OpenAI publishes them. */
const prices = {
  'gpt-4o-mini': { prompt: 0.15e-6, answer: 0.6e-6 },
  'gpt-4.1-nano': { prompt: 0.1e-6, answer: 0.4e-6 },
};
export type PricedModel = keyof typeof prices;
const rules = 6;
const policy = { provider: 'openai', model: 'gpt-4o-mini' } satisfies { provider: string; model: PricedModel };
export const pricedPolicy = { ...policy, max_tokens: 1_000 };

export async function startPricedWorld(latencyMs = 20): Promise<PricedWorld> {
  const answered = { 'gpt-4o-mini': 0, 'gpt-4.1-nano': 0 } satisfies Record<PricedModel, number>;
  // A container that makes the best of a refusal: what it says then must not count.
  const ask: Behaviour = async (call, response) => {
    const { inference_url: url, inference_api_key: key } = call.body.policy.config;
    const said = await fetch(`${url}/chat/completions`, {
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
    // There is always something left to learn, so that money is what ends a search.
    await answers.reward((await said.text()).includes(rule) ? 0.9 : 0, `needs ${rule}`)(call, response);
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

/** Echoes the system prompt of a rollout for scoring; improves it for a reflection. */
function textOf(request: ModelRequest): string {
  return systemOf(request) ?? propose(request);
}

/** As many tokens as the request allows in every third answer, less in others. */
function usageOf({ body, n }: ModelRequest) {
  const most = Number(body['max_tokens']);
  const completion_tokens = n % 3 === 0 ? most : Math.floor(most / (2 + (n % 7)));
  const prompt_tokens = Math.floor(JSON.stringify(body.messages).length / 2);
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}
