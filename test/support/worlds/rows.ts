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

export async function startRowsWorld(rules = 4, models = fakeModels): Promise<RowsWorld> {
  const answer = (rule: number) => `needs rule-${rule}.`;
  const rows = (count: number) =>
    Array.from({ length: count }, (_, row) => ({
      question: `Row ${row}: rule ${row % rules}`,
      answer: answer(row % rules),
    }));
  const reply = (request: ModelRequest): ModelReply => {
    const { body } = request;
    if (body.model === models.proposer) return { text: propose(request) };
    const [prompt, question] = [body.messages[0]!.content, body.messages.at(-1)!.content];
    const rule = answer(Number(/rule (\d+)/.exec(question)![1]));
    return { text: prompt.includes(rule.slice('needs '.length)) ? rule : 'No rule.' };
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
