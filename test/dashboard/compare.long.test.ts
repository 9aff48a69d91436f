import { beforeAll, expect } from '@jest/globals';
import type { Answer } from '../../src/client/index.js';
import { browserOfFile, isTooWide, violations } from '../support/browser.js';
import { built, deploy } from '../support/deployments-over-http.js';
import { ended } from '../support/jobs-over-http.js';
import { range } from '../support/range.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { until } from '../support/until.js';
import { startRowsWorld } from '../support/worlds/rows.js';

// Three searches of one request with other seeds, an evaluation and a deployment, side by side.

const on = serviceOfFile(() => startRowsWorld(12));
const { test, open } = browserOfFile();
const rows = 72;
const runs: string[] = [];
let evaluation: string;
let many: Answer<'compareMany'>;
const ids = () => [evaluation, ...runs, 'router'];

beforeAll(async () => {
  const { api } = on.service;
  const job = on.world.job(rows) as Record<string, object>;
  const seeds = { train_seeds: range(0, 24), evaluation: { seeds: range(24, 24), heldout_seeds: range(48, 24) } };
  for (const rng_seed of [1, 2, 3]) {
    const search = { algorithm: 'gepa', ...job, rng_seed, gepa: { population_size: 2, generations: 50, ...seeds } };
    const body = {
      policy_optimization: { ...search, budget: { max_rollouts: 160 } },
      name: 'router v3',
      tags: ['ship'],
    };
    runs.push((await api.call<{ job_id: string }>('POST', '/api/v1/online/sessions', body)).job_id);
  }
  const { dataset, scorer, policy } = job;
  const candidate = { messages: [{ role: 'system', content: 'Answer. Know rule-1.' }] };
  const body = { dataset, scorer, policy, candidate, name: 'by hand', tags: ['hand'] };
  evaluation = (await api.call<{ job_id: string }>('POST', '/api/v1/offline/jobs', body)).job_id;
  for (const id of [...runs, evaluation]) await ended(on.service, id, 120);
  await api.call('POST', '/api/harbor/deployments', { name: 'router', source: { session_id: runs[0] } });
  await until('it is live', async () => {
    const { live } = await api.call<{ live: boolean }>('GET', '/api/harbor/deployments/router');
    return live;
  });
  many = await api.client.compareMany(ids());
}, 240_000);

test('the counts of every column are those of the listed rows', async () => {
  const { client } = on.service.api;
  expect(many.columns.map(({ kind }) => kind)).toEqual(['evaluation', 'session', 'session', 'session', 'deployment']);
  expect(many.pairs).toHaveLength(10);
  expect(many.groups).toMatchObject([{ ids: runs, rng_seeds: 3, spread: expect.any(Number) }]);
  for (const { id, against_baseline: pair } of many.columns.slice(1)) {
    expect(pair).toMatchObject({ basis: 'heldout', seeds_compared: 24 });
    const expected = { won: pair!.won, lost: pair!.lost, different: pair!.won + pair!.lost, failed: 0 };
    for (const [outcome, total] of Object.entries(expected) as [keyof typeof expected, number][]) {
      const listed = await client.comparedRows(ids(), { outcome, column: id, limit: 100 });
      expect([id, outcome, listed.total, listed.data.length]).toEqual([id, outcome, total, total]);
    }
  }
  const two = await client.compare(evaluation, runs[0]!);
  expect(many.columns[1]!.against_baseline!.difference).toEqual(two.difference);
  expect(many.columns.map(({ prompt_tokens: tokens }) => tokens! > 0)).toEqual(Array(5).fill(true));
});

test('three runs are compared in two clicks, with another baseline, and a row shows all answers', async () => {
  const page = await open(on.service, '#/?tag=ship', { viewport: { width: 1440, height: 900 } });
  await page.getByRole('checkbox', { name: 'Select all of Runs' }).check();
  await page.getByRole('link', { name: 'Compare 3' }).click();
  const verdict = page.getByRole('region', { name: 'Verdict', exact: true });
  await verdict.getByText('The search itself varies by ±').waitFor();
  await verdict.getByText('not shown to differ', { exact: false }).first().waitFor();

  await page.getByRole('button', { name: 'Add …' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('searchbox').fill('by hand');
  await dialog.getByRole('button', { name: /^by hand/ }).click();
  await page.getByRole('button', { name: 'Compare with D' }).click();
  await until('it is pinned', () => Promise.resolve(page.url().includes(`baseline=${evaluation}`)));
  await verdict.getByText(/is better than D \(\+/).waitFor();
  expect(await verdict.getByRole('img', { name: /95 % interval/ }).count()).toBe(3);

  const panel = page.getByRole('region', { name: 'Rows', exact: true });
  const lost = many.columns.slice(1, 4).some(({ against_baseline: pair }) => pair!.lost > 0);
  await panel.getByRole('button', { name: /^Won / }).click();
  const cells = page.getByRole('table', { name: 'Rows with all answers' }).getByRole('row').nth(1).getByRole('button');
  await until('a row has all answers', async () => (await cells.count()) === 4);
  expect(await cells.nth(3).textContent()).toContain('No rule.');
  await panel.getByRole('button', { name: /^Lost / }).click();
  if (!lost) await panel.getByText('No such row.').waitFor();
  await panel.getByRole('searchbox').fill('rule 7');
  await panel.getByRole('searchbox').press('Enter');
  await page.waitForURL(/rows=lost&q=rule\+7/);

  const configuration = page.getByRole('region', { name: 'Configuration', exact: true });
  await configuration.getByRole('row', { name: /^Tags/ }).waitFor();
  expect(await configuration.getByRole('row', { name: /^Scorer/ }).count()).toBe(0);
  await configuration.getByRole('checkbox', { name: 'Only differences' }).uncheck();
  await configuration.getByRole('row', { name: /^Scorer exact/ }).waitFor();
  await page.getByRole('combobox', { name: 'to', exact: true }).selectOption('B');
  await page.getByRole('region', { name: 'Prompt of B, with its changes' }).waitFor();

  await page.reload();
  await page.getByRole('region', { name: 'Prompt of B, with its changes' }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Remove D' }).click();
  await page.getByRole('button', { name: 'Remove D' }).waitFor({ state: 'detached' });
  expect(page.url()).not.toContain(evaluation);
});

test('the configuration is that of the requests, of a deployed prompt that of its search', async () => {
  const { api } = on.service;
  const { dataset, scorer } = on.world.job(rows) as Record<string, object>;
  const gate = { dataset, scorer, min_reward: 0, seeds: range(0, 8) };
  const gated = await deploy(on.service, { name: 'gated', source: { session_id: runs[1] }, gate });
  await built(on.service, gated, 90);
  await api.call('PATCH', `/api/v1/datasets/${await datasetOf(evaluation)}`, { name: 'tickets' });
  const page = await open(on.service, `#/compare?ids=${[...ids(), gated].join()}`);
  const configuration = page.getByRole('region', { name: 'Configuration', exact: true });
  const cellsOf = (name: RegExp) => configuration.getByRole('row', { name }).getByRole('cell').allTextContents();
  await configuration.getByRole('row', { name: /^Seed of randomness/ }).waitFor();
  expect(await cellsOf(/^Seed of randomness/)).toEqual(['–', '1', '2', '3', '1', '2']);
  expect(await cellsOf(/^Answers, at most/)).toEqual(['–', '160', '160', '160', '160', '160']);
  const split = '24 train, 24 evaluation, 24 held-out';
  expect(await cellsOf(/^Split/)).toEqual(['–', split, split, split, split, split]);
  expect(await configuration.getByRole('row', { name: /^Data set/ }).count()).toBe(0);
  await configuration.getByRole('checkbox', { name: 'Only differences' }).uncheck();
  await configuration.getByRole('row', { name: /^Data set/ }).waitFor();
  expect(await cellsOf(/^Data set/)).toEqual(Array(6).fill(`tickets, ${rows} rows`));
  expect(await cellsOf(/^Model policy/)).toEqual(Array(6).fill('policy'));
  expect(await cellsOf(/^Model that writes prompts/)).toEqual(['–', ...Array<string>(5).fill('proposer')]);
});

const datasetOf = async (id: string) => {
  const { dataset } = await on.service.api.call<{ dataset: { dataset_id: string } }>(
    'GET',
    `/api/v1/offline/jobs/${id}`,
  );
  return dataset.dataset_id;
};

test('five columns scroll in their own box on a phone', async () => {
  const page = await open(on.service, `#/compare?ids=${ids().join()}`, { viewport: { width: 390, height: 800 } });
  await page.getByRole('table', { name: 'Rows with all answers' }).waitFor();
  await page.getByRole('region', { name: 'Prompt of A' }).waitFor();
  expect(await isTooWide(page)).toBe(false);
  expect(await violations(page)).toEqual([]);
});

test('the names of rows stay in view beside the columns that scroll', async () => {
  const page = await open(on.service, `#/compare?ids=${ids().join()}`, { viewport: { width: 900, height: 800 } });
  const table = page.getByRole('table', { name: 'Rows with all answers' });
  const name = table.getByRole('rowheader').first();
  const leftOf = async () => (await name.boundingBox())!.x;
  const before = await leftOf();
  await table.evaluate((box) => (box.scrollLeft = 10_000));
  expect(await table.evaluate((box) => box.scrollLeft)).toBeGreaterThan(100);
  expect(await leftOf()).toBe(before);
});

type Box = Record<'left' | 'right' | 'top' | 'bottom', number>;

test('the bounds of an interval stand apart from its zero on a phone', async () => {
  const page = await open(on.service, `#/sessions/${runs[0]}`, {
    viewport: { width: 390, height: 800 },
  });
  await page.getByRole('img', { name: /^Winner minus baseline/ }).waitFor();
  const boxes = await page.evaluate<Box[]>(
    "[...document.querySelectorAll('.interval text')].map((text) => text.getBoundingClientRect().toJSON())",
  );
  expect(boxes).toHaveLength(3);
  const meet = (a: Box, b: Box) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const overlaps = boxes.flatMap((one, n) => boxes.slice(n + 1).filter((other) => meet(one, other)));
  expect(overlaps).toEqual([]);
  expect(await violations(page)).toEqual([]);
});
