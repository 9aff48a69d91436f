import { beforeAll, expect } from '@jest/globals';
import type { Item } from '../../src/client/index.js';
import { browserOfFile, isTooWide, violations } from '../support/browser.js';
import { ended } from '../support/jobs-over-http.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { until } from '../support/until.js';
import { startRowsWorld } from '../support/worlds/rows.js';

const on = serviceOfFile(() => startRowsWorld());
const { describe, test, open } = browserOfFile();
const sizes = [40, 50];
let runs: Item<'listRuns'>[];

async function create(body: object, more: object): Promise<string> {
  const request = { policy_optimization: { algorithm: 'gepa', ...body }, ...more };
  return (await on.service.api.call<{ job_id: string }>('POST', '/api/v1/online/sessions', request)).job_id;
}

/** Six runs of each of two data sets, of which some have time for less. */
beforeAll(async () => {
  const { datasets } = on.service.api.client;
  for (const rows of sizes) await datasets.upload(new File([JSON.stringify(on.world.rows(rows))], `rows-${rows}.json`));
  // The provider reports what a call has cost.
  const usage = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25, cost: 0.0001 };
  on.world.model.reply((request) => ({ ...on.world.answer(request), usage }));
  const ids: string[] = [];
  for (let n = 0; n < 12; n += 1) {
    const search = { gepa: { population_size: 2, generations: 1 + (n % 3) }, budget: { max_rollouts: 160 } };
    ids.push(await create({ ...on.world.job(sizes[n % 2]!), ...search }, { name: `run ${n}`, tags: ['ended'] }));
  }
  for (const id of ids) await ended(on.service, id, 120);
  runs = (await on.service.api.client.runs.page({ tag: 'ended', sort: '-gain' })).data;
}, 300_000);

const names = 'tbody .row-link';

describe('twelve runs of two data sets', () => {
  test('show the best by gain after one click, with the interval on the axis of its rows alone', async () => {
    expect(new Set(runs.map(({ comparable_key: key }) => key)).size).toBe(2);
    expect(runs[0]!.comparison!.difference).toBeGreaterThan(runs.at(-1)!.comparison!.difference);
    const page = await open(on.service, '#/?tag=ended');
    await page.getByText('12 runs').waitFor();
    await page.getByRole('button', { name: 'Gain' }).click();
    const expected = runs.map(({ name }) => name);
    await until(
      'they are sorted',
      async () => String(await page.locator(names).allTextContents()) === String(expected),
    );
    expect(page.url()).toContain('sort=-gain');
    expect(await page.getByRole('img', { name: /95 % interval/ }).count()).toBe(6);
    expect(await page.getByRole('link', { name: 'not comparable' }).count()).toBe(6);
    const heights = await page
      .locator('tbody tr')
      .evaluateAll((all) => all.map((row) => row.getBoundingClientRect().height));
    expect(Math.max(...heights)).toBeLessThan(40);
  });

  test('that are comparable stand by gain and cost, those on the front by name', async () => {
    const page = await open(on.service, '#/?tag=ended');
    const drawing = page.getByRole('group', { name: 'Gain and cost of comparable runs' });
    await until('six are drawn', async () => (await drawing.getByRole('link').count()) === 6);
    expect(await drawing.locator('.node-name').count()).toBeGreaterThan(0);
    const cost = runs.reduce((sum, { total_cost_usd: usd }) => sum + usd!, 0);
    await page.getByText(`12 runs, $${cost.toFixed(2)}, `).waitFor();
  });

  test('have an axis for each data set when they are grouped', async () => {
    const page = await open(on.service, '#/?tag=ended&group=dataset');
    for (const rows of sizes) {
      const group = page.getByRole('region', { name: `rows-${rows}.json` }).last();
      await until(
        'six are on its axis',
        async () => (await group.getByRole('img', { name: /interval/ }).count()) === 6,
      );
    }
  });

  test('are compared in pairs', async () => {
    const page = await open(on.service, '#/?tag=ended');
    const pair = runs.filter(({ comparable_key: key }) => key === runs[0]!.comparable_key).slice(0, 2);
    for (const { name } of pair) await page.getByRole('checkbox', { name: `Select ${name}`, exact: true }).check();
    await page.getByRole('link', { name: 'Compare 2' }).click();
    await page.getByRole('region', { name: 'Verdict' }).waitFor();
  });
});

test('one action pauses three running runs, and says first what it touches', async () => {
  const live = {
    ...{ policy: { provider: 'fake', model: 'policy' }, proposer: { provider: 'fake', model: 'proposer' } },
    ...{
      rollouts: 'caller',
      gepa: { population_size: 1, generations: 1, evaluation: { seeds: [0, 1, 2] } },
      preflight: false,
    },
    initial_prompt: { messages: [{ role: 'system', content: 'Answer.' }] },
  };
  const ids: string[] = [];
  for (const name of ['live a', 'live b', 'live c']) ids.push(await create(live, { name, tags: ['live'] }));
  const statuses = async () =>
    (await on.service.api.client.runs.page({ tag: 'live' })).data.map(({ status }) => status);
  await until('they run', async () => String(await statuses()) === 'running,running,running');
  const page = await open(on.service, '#/?tag=live');
  await page.getByRole('checkbox', { name: 'Select all of Runs' }).check();
  const bar = page.getByRole('region', { name: 'Selected runs' });
  await bar.getByRole('button', { name: 'Pause' }).click();
  const dialog = page.getByRole('dialog');
  await until('it lists them', async () => (await dialog.getByRole('listitem').count()) === 3);
  expect(await statuses()).not.toContain('paused');
  await dialog.getByRole('button', { name: 'Pause 3' }).click();
  await dialog.getByText('3 paused').waitFor();
  expect(await statuses()).toEqual(['paused', 'paused', 'paused']);
  await dialog.getByRole('button', { name: 'Close' }).last().click();

  await bar.getByRole('button', { name: 'Archive', exact: true }).click();
  await dialog.getByText('3 of them go on and may cost money').waitFor();
  await dialog.getByRole('button', { name: 'Keep them' }).click();
});

test('a data set is listed by its name, shown, renamed, and kept while runs need it', async () => {
  const page = await open(on.service, '#/datasets');
  await page
    .getByRole('row', { name: /rows-40\.json/ })
    .getByRole('link', { name: 'rows-40.json' })
    .click();
  await page.getByRole('cell', { name: 'Row 0: rule 0' }).waitFor();
  await page.getByRole('button', { name: 'Next rows' }).click();
  await page.getByRole('cell', { name: 'Row 20: rule 0' }).waitFor();
  await page.getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Rules');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Rules' }).waitFor();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Delete it' }).click();
  await page.getByText(/Delete its jobs first/).waitFor();
  expect(await violations(page)).toEqual([]);
});

test.each([
  { width: 390, colorScheme: 'light' as const },
  { width: 1440, colorScheme: 'dark' as const },
  { width: 2560, colorScheme: 'light' as const },
])('nothing serious for axe and no overflow at %o', async ({ width, colorScheme }) => {
  const page = await open(on.service, '#/?tag=ended&sort=-gain', { viewport: { width, height: 900 }, colorScheme });
  await page.getByText('12 runs').waitFor();
  const box = page.getByRole('region', { name: 'Runs' });
  expect(await box.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
  expect(await violations(page)).toEqual([]);
  expect(await isTooWide(page)).toBe(false);
});
