import { answerRule, startRowsWorld, type RowsWorld } from './rows.js';
import { propose } from './rules.js';

/** Models of the aging world: a fake one, and one with a price. */
export const agingModels = {
  live: { provider: 'fake', model: 'aging' },
  priced: { provider: 'openai', model: 'gpt-4o-mini', max_tokens: 50 },
};
export const proposer = { provider: 'fake', model: 'proposer' };

/** A world of rows whose model gets worse. */
export interface AgingWorld extends RowsWorld {
  /** From now on it needs the rules in its prompt; before it answers all rows with any prompt. */
  age(): void;
}

export async function startAgingWorld(): Promise<AgingWorld> {
  const world = await startRowsWorld();
  let isOld = false;
  const reset = () => {
    world.reset();
    isOld = false;
    world.model.reply((request) => {
      const { messages, model } = request.body;
      if (model === proposer.model) return { text: propose(request) };
      const [, rule] = /rule (\d+)/.exec(messages.at(-1)!.content) ?? [];
      if (isOld) return { text: answerRule(messages) ?? 'ok' };
      return { text: rule === undefined ? 'ok' : `needs rule-${rule}.` };
    });
  };
  reset();
  return { ...world, reset, age: () => void (isOld = true) };
}

/** Rows and scorer of a gate. */
export const gateRows = (world: RowsWorld, count: number) => ({
  dataset: { rows: world.rows(count), input: 'question', expected: 'answer' },
  scorer: 'exact',
});
