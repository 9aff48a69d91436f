import { range } from '../range.js';
import type { ModelReply, ModelRequest } from '../fakes/model.js';
import { startModelWorld, type ModelWorld } from './model.js';
import { propose } from './rules.js';

/**
 * Rows with a known optimum: row i asks for rule i mod `rules`, and a prompt that has the rule
 * answers it. The proposer adds the first missing rule of the feedback.
 */
export interface RowsWorld extends ModelWorld {
  /** Fields of a session on `count` rows; without preflight, so that every call is the search's. */
  job(count: number): object;
  rows(count: number): { question: string; answer: string }[];
  /** The requests of the policy. */
  policyCalls(): ModelRequest[];
}

export const rowsBaseline = 'Answer well.';

/** Names of the two models. */
const fakeModels = { policy: 'policy', proposer: 'proposer' };

/** Row `seed` of a task of `rules` rules. */
export function ruleRow(seed: number, rules: number): { question: string; answer: string } {
  return { question: `Row ${seed}: rule ${seed % rules}`, answer: `needs rule-${seed % rules}.` };
}

/** The policy's answer to a question of `ruleRow`; null: it is another question. */
export function answerRule(messages: readonly { content: string }[]): string | null {
  const [, rule] = /Row \d+: rule (\d+)/.exec(messages.at(-1)?.content ?? '') ?? [];
  if (rule === undefined) return null;
  return messages[0]!.content.includes(`rule-${rule}.`) ? `needs rule-${rule}.` : 'No rule.';
}

/** A session that shows more turns than help: any turn teaches all rules but the last. */
export function withIdleTurns(world: RowsWorld, rules = 4): object {
  world.model.reply(({ n, body }) => {
    if (body.model !== fakeModels.policy) return { text: `\`\`\`\nAnswer well, please (${n}).\n\`\`\`` };
    const [, rule] = /rule (\d+)/.exec(body.messages.at(-1)!.content) ?? [];
    const isTaught = Number(rule) < rules - 1 && body.messages.some(({ role }) => role === 'assistant');
    return { text: isTaught ? `needs rule-${rule}.` : 'No rule.' };
  });
  const seeds = { train_seeds: range(0, 20), evaluation: { seeds: range(20, 20) } };
  return { ...world.job(40), gepa: { population_size: 2, generations: 200, ...seeds }, budget: { max_rollouts: 130 } };
}

export async function startRowsWorld(rules = 4, models = fakeModels): Promise<RowsWorld> {
  const rows = (count: number) => Array.from({ length: count }, (_, seed) => ruleRow(seed, rules));
  const reply = (request: ModelRequest): ModelReply => {
    const { body } = request;
    return { text: body.model === models.proposer ? propose(request) : answerRule(body.messages)! };
  };
  const world = await startModelWorld(reply);
  return {
    ...world,
    rows,
    job: (count) => ({
      dataset: { rows: rows(count), input: 'question', expected: 'answer' },
      scorer: 'exact',
      policy: { provider: 'fake', model: models.policy },
      proposer: { provider: 'fake', model: models.proposer },
      initial_prompt: { messages: [{ role: 'system', content: rowsBaseline }] },
      preflight: false,
    }),
    policyCalls: () => world.model.requests.filter(({ body }) => body.model === models.policy),
  };
}
