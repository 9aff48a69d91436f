import { startFakeModel, type FakeModel, type ModelReply, type ModelRequest } from '../fakes/model.js';
import { answerRule, ruleRow } from './rows.js';
import { propose } from './rules.js';

/** Models at public prices, in dollars per token. */
const prices = {
  'gpt-4o-mini': { prompt: 0.15e-6, answer: 0.6e-6 },
  'gpt-4.1-nano': { prompt: 0.1e-6, answer: 0.4e-6 },
  'gpt-4.1-mini': { prompt: 0.4e-6, answer: 1.6e-6 },
};
type Model = keyof typeof prices;

const policyOf = (model: Model) => ({ provider: 'openai', model });
export const monthModels = {
  /** Answers all rows with any prompt, until it gets worse and needs the rules in its prompt. */
  old: policyOf('gpt-4o-mini'),
  /** Needs the rules in its prompt. */
  next: policyOf('gpt-4.1-nano'),
  proposer: policyOf('gpt-4.1-mini'),
};

/** What callers ask, and the right answers. */
export const monthRow = (seed: number) => ruleRow(seed, 4);

/** A provider whose old model gets worse and ends, and a ledger of all that it has answered. */
export interface MonthWorld {
  model: FakeModel;
  env: Record<string, string>;
  /** From now on the old model needs the rules in its prompt. */
  getWorse(): void;
  /** From now on the old model is gone. */
  retire(): void;
  /** Answers that were sent whole, and their cost. */
  answered(): { calls: number; usd: number };
  close(): Promise<void>;
}

export async function startMonthWorld(): Promise<MonthWorld> {
  let state: 'good' | 'worse' | 'gone' = 'good';
  const ledger = { calls: 0, usd: 0 };
  const model = await startFakeModel((request) => {
    const name = request.body.model as Model;
    if (name === 'gpt-4o-mini' && state === 'gone') return gone;
    const text = textOf(request, name === 'gpt-4o-mini' && state === 'good');
    const usage = usageOf(request, text);
    void request.ended.then((isWhole) => {
      if (!isWhole) return;
      ledger.calls += 1;
      ledger.usd += usage.prompt_tokens * prices[name].prompt + usage.completion_tokens * prices[name].answer;
    });
    return { text, usage };
  });
  return {
    model,
    env: { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'sk-test' },
    getWorse: () => (state = 'worse'),
    retire: () => (state = 'gone'),
    answered: () => ({ ...ledger }),
    close: () => model.close(),
  };
}

/** As OpenAI refuses a model after its end. */
const gone: ModelReply = {
  status: 404,
  raw: JSON.stringify({
    error: {
      message: 'The model `gpt-4o-mini` has been deprecated',
      type: 'invalid_request_error',
      param: null,
      code: 'model_not_found',
    },
  }),
};

function textOf(request: ModelRequest, isGood: boolean): string {
  const { messages, model } = request.body;
  if (model === 'gpt-4.1-mini') return propose(request);
  const [, rule] = /rule (\d+)/.exec(messages.at(-1)?.content ?? '') ?? [];
  if (rule === undefined) return 'ok';
  return isGood ? `needs rule-${rule}.` : answerRule(messages)!;
}

function usageOf({ body }: ModelRequest, text: string) {
  const [prompt_tokens, completion_tokens] = [JSON.stringify(body.messages).length, text.length].map((length) =>
    Math.ceil(length / 4),
  ) as [number, number];
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}
