import { beforeAll, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { browserOfFile, isTooWide, violations } from '../support/browser.js';
import { gate } from '../support/gate.js';
import { createEvaluation, createSession, ended } from '../support/jobs-over-http.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { until } from '../support/until.js';
import { startRowsWorld } from '../support/worlds/rows.js';

// The rows of a session: which are still wrong, with which answers, and a data set of them.

const on = serviceOfFile(() => startRowsWorld());
const { test, open } = browserOfFile();

let id: string;
beforeAll(async () => {
  // Two generations learn two of the four rules.
  const gepa = { population_size: 1, generations: 2 };
  id = await createSession(on.service, { ...on.world.job(40), gepa, budget: { max_rollouts: 200 } });
  await ended(on.service, id);
}, 90_000);

const lines = (page: Page) => page.getByRole('table', { name: 'Rows', exact: true }).getByRole('row');
const group = (page: Page, name: string | RegExp) =>
  page.getByRole('navigation', { name: 'Groups of rows' }).getByRole('button', { name });
const countOf = async (page: Page, name: string | RegExp) =>
  Number((await group(page, name).textContent())!.match(/\d+$/)![0]);

test('the overview of an ended session has what changed, without the prompts of other candidates', async () => {
  const asked: string[] = [];
  const page = await open(on.service, '#/');
  page.on('request', (request) => void asked.push(request.url()));
  await page.goto(`${on.service.url}/#/sessions/${id}`);
  const panel = page.getByRole('region', { name: 'What the best prompt changed' });
  await panel.getByRole('list', { name: 'Edits' }).locator('ins').first().waitFor();
  const fixed = panel.getByRole('link', { name: /^\d+ rows?$/ }).first();
  const count = parseInt((await fixed.textContent())!);
  await fixed.click();
  for (const part of ['group=fixed', 'seen=false']) expect(page.url()).toContain(part);
  await page.getByRole('status').getByText(`${count} rows`).waitFor();
  expect(await countOf(page, 'Fixed by the winner')).toBe(count);
  expect(asked.filter((url) => /\/changes|\/candidates\//.test(url))).toEqual([]);
});

test('shows what is still wrong, by group and by label, and makes a data set of it', async () => {
  const page = await open(on.service, `#/sessions/${id}`);
  await page.getByRole('tab', { name: 'Rows' }).click();
  await lines(page).nth(1).waitFor();
  const failing = await countOf(page, 'Still wrong');
  expect([failing > 0, (await countOf(page, 'Fixed by the winner')) > 0]).toEqual([true, true]);
  await group(page, 'Still wrong').click();
  await page.getByRole('status').getByText(`${failing} rows`).waitFor();
  expect(page.url()).toContain('group=failing');
  expect(await violations(page)).toEqual([]);

  const cell = page.getByRole('region', { name: 'Expected values and answers' }).getByRole('button').first();
  const [, count, expected, answered] = /^(\d+) rows expected (.*), answered (.*)$/.exec(
    (await cell.getAttribute('aria-label'))!,
  )!;
  expect(answered).toBe('No rule.');
  await cell.click();
  await page.getByRole('status').getByText(`${count} rows`).waitFor();
  await until('the rows of the cell are left', async () => (await lines(page).count()) === Number(count) + 1);
  expect(await lines(page).nth(1).getByText(expected!).count()).toBe(1);
  await page.reload();
  await page.getByRole('status').getByText(`${count} rows`).waitFor();

  await page.getByRole('button', { name: 'Make a data set of these' }).click();
  const link = page.locator('.row-made').getByRole('link');
  expect(await link.textContent()).toMatch(/: \d+ rows?$/);
  const made = (await link.getAttribute('href'))!.split('/').at(-1)!;
  const { data } = await on.service.api.call<{ data: { data: { answer: string } }[] }>(
    'GET',
    `/api/v1/datasets/${made}/rows`,
  );
  expect(data.map((row) => row.data.answer)).toEqual(Array(Number(count)).fill(expected));

  await lines(page).nth(1).getByRole('button').click();
  await page
    .getByRole('complementary', { name: /^Review of Row/ })
    .getByRole('region', { name: 'Trace' })
    .waitFor();
});

test('a text that is being typed stays when new rows arrive', async () => {
  const page = await open(on.service, `#/sessions/${id}?tab=rows`);
  await lines(page).nth(1).waitFor();
  const held = gate();
  await page.route(/\/rows\?/, async (answer) => {
    await held.opened;
    await answer.continue();
  });
  const failing = await countOf(page, 'Still wrong');
  await group(page, 'Still wrong').click();
  await page.getByRole('searchbox').fill('rule 3');
  held.open();
  await page.getByRole('status').getByText(`${failing} rows`).waitFor();
  expect(await page.getByRole('searchbox').inputValue()).toBe('rule 3');
  await page.getByRole('searchbox').press('Enter');
  await page.waitForURL(/group=failing&q=rule\+3/);
});

test('of an evaluation have one answer each', async () => {
  const { dataset, scorer, policy } = on.world.job(40) as Record<string, object>;
  const candidate = { messages: [{ role: 'system', content: 'Answer. Know rule-1.' }] };
  const evaluation = await createEvaluation(on.service, { env_name: undefined, dataset, scorer, policy, candidate });
  await ended(on.service, evaluation);
  const page = await open(on.service, `#/evaluations/${evaluation}`);
  await page.getByRole('tab', { name: 'Rows' }).click();
  await lines(page).nth(1).waitFor();
  expect([await countOf(page, 'Wrong'), await countOf(page, /^Right\s*\d/)]).toEqual([30, 10]);
});

test('fits a phone', async () => {
  const page = await open(on.service, `#/sessions/${id}?tab=rows&q=rule+3`, { viewport: { width: 390, height: 800 } });
  await lines(page).nth(1).waitFor();
  expect(await lines(page).nth(1).getByText('rule 3').count()).toBe(1);
  expect(await isTooWide(page)).toBe(false);
  expect(await violations(page)).toEqual([]);
});
