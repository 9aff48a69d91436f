import { answerRule, startRowsWorld, type RowsWorld } from './rows.js';
import { propose } from './rules.js';

/** Models that differ in how well they answer with the prompt that was written for `old`. */
export const movableModels = {
  /** Answers all rows with any prompt. */
  old: { provider: 'fake', model: 'old' },
  equal: { provider: 'fake', model: 'equal' },
  /** Needs the rules in its prompt. */
  needy: { provider: 'fake', model: 'needy' },
  hopeless: { provider: 'fake', model: 'hopeless' },
};
export const proposer = { provider: 'fake', model: 'proposer' };

/** A world of rows whose models differ in what their prompt must say. */
export async function startMovableWorld(): Promise<RowsWorld> {
  const world = await startRowsWorld();
  const reset = () => {
    world.reset();
    world.model.reply((request) => {
      const { body } = request;
      if (body.model === 'proposer') return { text: propose(request) };
      if (body.model === 'hopeless') return { text: 'No rule.' };
      const answer = answerRule(body.messages) ?? 'ok';
      if (body.model === 'needy') return { text: answer };
      const [, rule] = /rule (\d+)/.exec(body.messages.at(-1)!.content) ?? [];
      return { text: `needs rule-${rule}.` };
    });
  };
  reset();
  return { ...world, reset };
}

/** Rows and scorer of a migration. */
export const movableRows = (world: RowsWorld, count: number) => ({
  dataset: { rows: world.rows(count), input: 'question', expected: 'answer' },
  scorer: 'exact',
});
