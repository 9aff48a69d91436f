import { afterEach, describe, expect, test } from '@jest/globals';
import { askedOf, checkedUp, checkUp } from '../../support/checkups-over-http.js';
import { built, deploy, saying } from '../../support/deployments-over-http.js';
import { migrate, migrated } from '../../support/migrations-over-http.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { agingModels, gateRows, startAgingWorld } from '../../support/worlds/aging.js';
import { answerRule, rowsBaseline } from '../../support/worlds/rows.js';
import { propose } from '../../support/worlds/rules.js';

// Invariant: all jobs of a checkup or a migration together stay within its dollars, and a session
// that spends its share leaves enough to compare its winner.

const { priced } = agingModels;
const to = { ...priced, model: 'gpt-4.1-mini' };
const proposer = { provider: 'openai', model: 'gpt-4.1-nano', max_tokens: 300 };
const on = serviceOfFile(startAgingWorld);
afterEach(() => on.world.reset());

const live = async (name: string) =>
  built(on.service, await deploy(on.service, { name, source: saying(rowsBaseline, priced), log: {} }));

/** From now on `model` needs the rules in its prompt, and no prompt helps with the last one. */
function needsRules(model: string) {
  on.world.model.reply((request) => {
    const { n, body } = request;
    if (body.model === proposer.model) return { text: propose(request).replace('```\n', `$&Try ${n}. `) };
    const [, rule] = /rule (\d+)/.exec(body.messages.at(-1)!.content) ?? [];
    if (body.model !== model) return { text: `needs rule-${rule}.` };
    return { text: rule === '3' ? 'No rule.' : answerRule(body.messages)! };
  });
}

/** The session of a parent, and whether its dollars ended it. */
async function sessionOf(id: string) {
  const [session] = await on.service.query<{ stoppedBy: string; max: number; left: number }>(
    `select stopped_by as "stoppedBy", max_usd::float8 as max, (max_usd - spent_usd)::float8 as left
       from jobs j join job_budgets b on b.job_id = j.id
      where substr(j.id, 5, 28) = $1 and j.kind = 'session'`,
    [id.slice(4, 32)],
  );
  return session!;
}

describe('dollars that end inside the session', () => {
  const budget = { max_cost_usd: 0.005, max_rollouts: 2_000 };

  test('of an improvement', async () => {
    await live('improved');
    await askedOf(on.service, 'improved', 40);
    needsRules(priced.model);
    const traffic = { limit: 40, expected: 'corrected_or_answer' };
    const { job_id: id } = await checkUp(
      on.service,
      'improved',
      { traffic, scorer: 'exact', proposer, budget },
      'improve',
    );
    const done = await checkedUp(on.service, id, 120);
    expect(done).toMatchObject({ status: 'completed', traffic: { reward: 0 }, improvement_verdict: 'better' });
    expect(done.total_cost_usd).toBeLessThanOrEqual(budget.max_cost_usd);
    expect(await sessionOf(id)).toMatchObject({ stoppedBy: 'max_cost_usd' });
  }, 180_000);

  test('of a migration', async () => {
    await live('moved');
    needsRules(to.model);
    const id = await migrate(on.service, 'moved', { ...gateRows(on.world, 40), to, proposer, max_loss: 0.5, budget });
    const done = await migrated(on.service, id, 120);
    expect(done).toMatchObject({
      status: 'completed',
      side: 'optimized',
      optimized: { reward: 0.75 },
      max_cost_usd: budget.max_cost_usd,
    });
    expect(done.total_cost_usd).toBeLessThanOrEqual(budget.max_cost_usd);
    expect(await sessionOf(id)).toMatchObject({ stoppedBy: 'max_cost_usd' });
  }, 180_000);
});
