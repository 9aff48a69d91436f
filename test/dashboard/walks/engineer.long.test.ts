import { beforeAll, expect } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import type { Item } from '../../../src/client/index.js';
import { browserOfFile, isTooWide, violations } from '../../support/browser.js';
import { ended } from '../../support/jobs-over-http.js';
import { lookOptions, looks } from '../../support/looks.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { until } from '../../support/until.js';
import { startRowsWorld } from '../../support/worlds/rows.js';

// A prompt engineer with thirty runs: six questions, each answered in at most two clicks from the
// list of runs.

const on = serviceOfFile(() => startRowsWorld());
const { test, open } = browserOfFile();
const count = 30;
let best: Item<'listRuns'>;

beforeAll(async () => {
  const { datasets, runs } = on.service.api.client;
  await datasets.upload(new File([JSON.stringify(on.world.rows(40))], 'rules.json'));
  const usage = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25, cost: 0.0001 };
  on.world.model.reply((request) => ({ ...on.world.answer(request), usage }));
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const search = { gepa: { population_size: 2, generations: 1 + (n % 3) }, budget: { max_rollouts: 160 } };
    const policy_optimization = { algorithm: 'gepa', ...on.world.job(40), ...search, rng_seed: n };
    const request = { policy_optimization, name: `run ${n}`, tags: ['mine'] };
    ids.push((await on.service.api.call<{ job_id: string }>('POST', '/api/v1/online/sessions', request)).job_id);
  }
  for (const id of ids) await ended(on.service, id, 200);
  [best] = (await runs.page({ tag: 'mine', sort: '-gain' })).data as [Item<'listRuns'>];
}, 400_000);

/** The list of runs, whose clicks are counted. */
async function begin(look: (typeof looks)[number]) {
  const page = await open(on.service, '#/?tag=mine', lookOptions(look));
  await page.getByText(`${count} runs`).waitFor();
  let clicks = 0;
  return {
    page,
    clicks: () => clicks,
    async click(target: Locator) {
      await target.click();
      clicks += 1;
    },
  };
}

const firstRun = (page: Page) => page.locator('tbody .row-link').first();
const isFirst = (page: Page, name: string) =>
  until(`${name} is first`, async () => (await firstRun(page).textContent()) === name);
const bestRun = (page: Page) => page.getByRole('link', { name: best.name!, exact: true });
const tab = (page: Page, name: string) => page.getByRole('tab', { name });

test.each(looks)(
  'six questions in at most two clicks at %o',
  async (look) => {
    const ask = async (question: (on: Awaited<ReturnType<typeof begin>>) => Promise<void>) => {
      const walk = await begin(look);
      await question(walk);
      expect(walk.clicks()).toBeLessThanOrEqual(2);
      expect(await isTooWide(walk.page)).toBe(false);
      expect(await violations(walk.page)).toEqual([]);
      await walk.page.context().close();
    };

    // Which run was best?
    await ask(async ({ page, click }) => {
      await click(page.getByRole('button', { name: 'Gain' }));
      await isFirst(page, best.name!);
    });
    // Why was it best, and what did the winner change?
    await ask(async ({ page, click }) => {
      await click(bestRun(page));
      await click(tab(page, 'Prompt'));
      await page
        .getByRole('region', { name: 'Best prompt' })
        .getByText(/from row \d+/)
        .first()
        .waitFor();
    });
    // Which rows still fail?
    await ask(async ({ page, click }) => {
      await click(bestRun(page));
      await click(tab(page, 'Rows'));
      const { groups } = await on.service.api.client.sessions.handle(best.job_id).rowsSummary();
      await page.getByRole('table', { name: 'Rows', exact: true }).waitFor();
      await page.getByText(new RegExp(`Fixed by the winner\\s*${groups.fixed}`)).waitFor();
    });
    // How much did it cost, alone and in total?
    await ask(async ({ page }) => {
      const { totals } = await on.service.api.client.runs.page({ tag: 'mine' });
      await page
        .getByText(`$${totals!.total_cost_usd!.toFixed(2)}`)
        .first()
        .waitFor();
    });
    // Was it luck?
    await ask(async ({ page, click }) => {
      await click(bestRun(page));
      await page
        .getByRole('region', { name: 'Verdict' })
        .getByText(/95 % interval/)
        .waitFor();
    });
  },
  300_000,
);
